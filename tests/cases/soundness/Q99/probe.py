from srv.m import *
try:
    print(run(None))
except AttributeError as e:
    print(e)
