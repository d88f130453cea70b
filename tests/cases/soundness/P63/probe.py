from srv.m import K
print(K(3, 1).f())
