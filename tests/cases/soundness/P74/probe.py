from srv.m import K, Other
print(K().f(Other()))
