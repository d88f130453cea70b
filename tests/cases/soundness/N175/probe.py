from srv.runner import Runner
runner = Runner()
runner.start()
print(runner.out)
