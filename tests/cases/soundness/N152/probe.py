from srv.codes import name_of
print(name_of(5), name_of(0))
