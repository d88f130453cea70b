from srv.runner import Draft, Runner
print(Runner(2).label(), Draft(2).label())
