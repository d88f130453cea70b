from srv.m import *
from srv.n import make
print(one(5).x, make().x)
