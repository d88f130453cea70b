from srv.m import L
print(L().f(None, 1))
