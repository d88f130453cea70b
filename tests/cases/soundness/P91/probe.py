import srv.start
from srv.m import g
print(g())
