from srv.m import *
add(1)
print(count())
