from srv.runner import names
print(names())
