from srv.runner import pick
print(pick(["b", "a"]))
