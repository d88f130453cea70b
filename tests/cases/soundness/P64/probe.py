from srv.m import K
print(K().f())
