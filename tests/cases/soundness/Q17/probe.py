from srv.m import *
r=Runner(3); r.step()
print(r.h.go())
