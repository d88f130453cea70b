from srv.runner import Runner
print(Runner().run([4, 5]))
