from srv.m import *
def g(): raise ValueError
try: print(type(f(g)))
except NameError: print('N')
