from srv.m import K
print(bool(K().f()))
