from srv.m import f
f(5)
f(1)
print('end')
