from srv.runner import Runner
print(Runner(1, 4).label())
