from srv.m import K
K().f()
