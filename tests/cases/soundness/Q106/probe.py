from srv.m import make
print(make())
