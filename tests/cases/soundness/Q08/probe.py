from srv.m import f
def h(): raise ValueError
print(f(lambda:5,h))
