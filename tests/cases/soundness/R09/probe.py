from srv.m import *
try:
    K(1, 2, 3, 4)
except AttributeError:
    print('missing')
