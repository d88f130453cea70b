from srv.m import g
print(g())
