from srv.backends import names
print(names())
