from srv.m import make, show
print(show(make()))
