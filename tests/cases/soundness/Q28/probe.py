from srv.m import f
print(f(7))
