from srv.m import *
l = []
run(l)
print(l)
