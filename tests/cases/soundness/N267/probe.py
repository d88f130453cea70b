from srv.runner import find
print(find([1, 2, 3], 3))
