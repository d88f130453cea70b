import srv.m as m
m.go(); print(m.LOG)
