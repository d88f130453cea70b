from srv.request import make
print(make([1, 2]))
