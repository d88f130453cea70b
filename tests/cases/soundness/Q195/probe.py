from srv.m import *
try:
    print(run(2))
except ValueError as e:
    print('value')
