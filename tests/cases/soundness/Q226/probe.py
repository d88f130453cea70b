from srv.m import *
print(run(4))
