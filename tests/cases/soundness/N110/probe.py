from srv.runner import Runner
print(Runner(3).plan(2))
