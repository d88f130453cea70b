from srv.m import A,f
print(f(A()))
