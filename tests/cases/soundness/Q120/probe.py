from srv.m import *
print(commands())
