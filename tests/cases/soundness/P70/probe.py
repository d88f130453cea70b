import srv.start
from srv.m import f
print(srv.start.X, f())
