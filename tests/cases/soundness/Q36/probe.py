from srv.m import f
print(f())
