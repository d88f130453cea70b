from srv.m import *
from srv.user import use
print(run(2), use(2))
