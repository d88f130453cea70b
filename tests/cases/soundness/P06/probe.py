from srv.m import f
f().append(1)
print(f())
