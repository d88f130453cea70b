from srv.runner import share
print(share(10, 3, 2))
