from srv.runner import Runner
runner = Runner()
runner.reset("a")
print(runner.log)
