from srv.m import *
print(one(5), many([5]))
