from srv.m import f
f(1, 1)
print('end')
