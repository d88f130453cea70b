from srv.runner import Runner
print(Runner(5).room(2))
