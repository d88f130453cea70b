from srv.m import *
l = []
run(1, l)
run(-2, l)
print(l)
