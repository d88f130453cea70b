from srv.m import f
print(f([3],False))
