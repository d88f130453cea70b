from srv.m import *
b = Board().setup(3)
print(b.low, b.high)
