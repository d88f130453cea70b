from srv.m import *
print(double('4'))
