from srv.runner import Runner
print(Runner().start(iter([1, 2])))
