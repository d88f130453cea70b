from srv.runner import inside
print(inside(0, 5, 3))
