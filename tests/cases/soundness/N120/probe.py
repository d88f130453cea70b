from srv.runner import busy
print(busy([1, 2]))
