from srv.m import *
print(go(Box(1), 0))
