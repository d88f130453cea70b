from srv.m import f
print(f({'a': 1}))
