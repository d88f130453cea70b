from srv.m import *
make()
print(list(STEPS))
