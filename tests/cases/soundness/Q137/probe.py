from srv.m import *
b = Board()
print(run(b, Meter(b)))
