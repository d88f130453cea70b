from srv.runner import pick
print(pick())
