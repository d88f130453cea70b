from srv.runner import Runner
print(Runner(5).node(), Runner(5).label())
