from srv.runner import Runner
runner = Runner()
runner.note("a")
runner.note("b")
print(runner.log)
