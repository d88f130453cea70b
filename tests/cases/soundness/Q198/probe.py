from srv.m import *
Board().add(1)
print(Board().add(2))
