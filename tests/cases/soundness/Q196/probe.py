from srv.m import *
print(run(0), run(1))
