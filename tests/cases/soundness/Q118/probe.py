from srv.m import *
from srv.meta import LOG
Board().run(1)
print(LOG)
