from srv.runner import Runner
print(Runner().label())
