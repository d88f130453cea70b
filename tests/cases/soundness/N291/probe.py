from srv.runner import Runner
print(Runner().run([1, 2]))
