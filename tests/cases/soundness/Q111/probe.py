from srv.m import *
print(kind())
