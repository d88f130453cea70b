from srv.m import *
try:
    print(go(Quiet(), lambda: 1 / 0))
except NameError:
    print('unbound')
