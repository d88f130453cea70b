from srv.runner import Runner
runner = Runner(6, 4)
print(runner.start(), runner.restart(1))
