from srv.names import names
print(names("a.b + c"))
