from srv.store import dump
print(dump(3))
