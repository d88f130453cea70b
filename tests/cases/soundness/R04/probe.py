from srv.m import *
print(go([1], lambda a: a.append(2)))
