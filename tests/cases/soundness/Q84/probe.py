from srv.m import *
print(Board().run(2))
