from srv.m import *
class O: pass
a=O(); a.size=1; b=O(); b.size=2
print(build(a,b)[0].go())
