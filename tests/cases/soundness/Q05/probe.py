from srv.m import A
o=[]; A(o).f(1,0,0); print(o)
