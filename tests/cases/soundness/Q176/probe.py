from srv.m import *
l = []
run(1, 1, l)
run(1, 0, l)
print(l)
