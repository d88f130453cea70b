from srv.m import K
try:
    K().f()
    print('end')
except AttributeError:
    print('error')
