from srv.m import *
from srv.n import many
print(one(5), many([5]))
