import srv.start
from srv.m import g
print(srv.start.X, g())
