from srv.m import K
print(K.a)
