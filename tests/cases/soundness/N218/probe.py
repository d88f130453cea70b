from srv.request import grow
print(grow(3))
