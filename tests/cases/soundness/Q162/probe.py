from srv.m import *
print(repr(run(1)))
