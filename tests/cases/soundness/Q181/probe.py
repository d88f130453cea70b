from srv.n import names
print(names())
