from srv.m import *
print(run())
