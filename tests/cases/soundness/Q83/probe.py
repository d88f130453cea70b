from srv.m import *
Board().run()
print(LOG)
