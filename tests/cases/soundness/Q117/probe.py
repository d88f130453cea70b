from srv.m import *
print(order())
