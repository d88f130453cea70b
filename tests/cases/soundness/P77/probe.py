from srv.m import K, h
print(K().f(), h())
