from srv.m import *
print(Board().run([1, 2]))
