from srv.m import *
b = B()
print(go(b, b))
