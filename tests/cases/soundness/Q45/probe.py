from srv.m import A
print(A().f())
