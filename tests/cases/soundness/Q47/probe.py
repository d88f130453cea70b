from srv.m import *
print(Runner().h.go())
