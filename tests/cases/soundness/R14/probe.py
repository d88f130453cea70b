from srv.m import *
try:
    print(f(1, 'x')())
except NameError:
    print('no such name')
