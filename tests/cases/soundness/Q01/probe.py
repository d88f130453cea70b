from srv.m import f
def x(): raise ValueError
o=[]; f(x,o); print(o)
