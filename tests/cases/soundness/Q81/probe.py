from srv.m import *
from srv.base import LOG
Board().run(3)
print(LOG)
