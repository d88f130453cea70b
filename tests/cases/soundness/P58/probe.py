from srv.m import f
x = f(1)
print(x == 1)
getattr(x, 'close', int)()
