from srv.request import make
print(make())
