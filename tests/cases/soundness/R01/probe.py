from srv.m import *
print(go(Quiet(), Box(), lambda: 1 / 0))
