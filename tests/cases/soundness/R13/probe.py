from srv.m import *
print(go())
