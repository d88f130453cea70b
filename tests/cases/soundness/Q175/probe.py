from srv.m import *
l = []
run(0, l)
print(l)
