from srv.m import *
from srv.n import many
print(Board().one(5), many(Board(), [5]))
