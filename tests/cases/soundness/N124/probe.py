from srv.runner import loaded
print(loaded("model"))
