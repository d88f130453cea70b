from srv.runner import Runner
print(Runner(3).slots(1))
