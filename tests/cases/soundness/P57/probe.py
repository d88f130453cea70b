import srv.m
print(srv.m.X)
