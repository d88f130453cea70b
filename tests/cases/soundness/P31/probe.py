from srv.m import f
f(5, 0)
print('end')
