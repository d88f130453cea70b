from srv.m import *
class O: pass
a=O(); a.size=1; b=O(); b.size=2
t=Top(a); t.swap(b)
print(t.h.go())
