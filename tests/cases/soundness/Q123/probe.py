from srv.m import *
from srv.n import many
try:
    print(one(5), many([5]))
except TypeError as e:
    print(e)
