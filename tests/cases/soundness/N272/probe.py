from srv.session import both
print(both(3))
