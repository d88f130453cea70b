from srv.m import f
print(hasattr(f(), 'dom'))
