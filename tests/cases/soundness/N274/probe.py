from srv.runner import Runner
print(Runner().run(), Runner().stop())
