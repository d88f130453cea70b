from srv.runner import Runner
runner = Runner()
runner.run(False)
print(runner.out)
