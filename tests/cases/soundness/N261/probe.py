import srv.core
print(srv.core.__file__ is None)
