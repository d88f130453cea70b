import srv.m
srv.m.A = 5
print(srv.m.f())
