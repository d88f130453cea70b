from srv.m import *
print(go({'k': 1}, lambda a: a.update(n=2)))
