from srv.m import *
print(run([1, 2]))
