from srv.runner import Runner
print(Runner("m").call(1, 2, eager=True))
