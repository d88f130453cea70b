from srv.m import *
r = Runner()
r.grow()
print(r.helper.go())
