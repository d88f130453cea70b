from srv.m import f
print(f(0,lambda:7))
