from srv.m import f
class O: x=0
o=O(); print(f(o))
