from srv.runner import cells
print(cells(7))
