from srv.runner import Runner
print(Runner(1, 4).label(), Runner(3, 4).is_last())
