from srv.m import *
add(1)
print(add(2))
