from srv.m import K
try:
    print(K().f())
except AttributeError:
    print('error')
