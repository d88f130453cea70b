from srv.m import *
print(run(2))
