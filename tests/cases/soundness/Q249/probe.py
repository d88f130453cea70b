from srv.m import *
print(Board().run())
