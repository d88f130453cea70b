from srv.m import *
print(run(1.5)[1] is None)
