from srv.m import *
print(Board().mix(1, 2))
