from srv.m import *
print(run(1, 0), run(0, 0), run(1, 1))
