from srv.m import f
f()
print(f())
