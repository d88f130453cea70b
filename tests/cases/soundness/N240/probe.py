from srv.runner import Runner
print(Runner().size(3, 4))
