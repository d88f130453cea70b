from srv.m import K
print(K().f(0))
