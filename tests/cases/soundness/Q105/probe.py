from srv.m import show
print(show())
