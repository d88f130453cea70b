from srv.runner import Runner
runner = Runner()
runner.start()
runner.restart()
print(runner.out)
