from srv.runner import Runner
print(Runner().run([3, 4]))
