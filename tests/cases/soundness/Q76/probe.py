from srv.m import *
Board().run(3)
print(LOG)
