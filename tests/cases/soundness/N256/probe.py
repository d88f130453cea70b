from srv.runner import Runner
runner = Runner()
runner.setup(False)
print(runner.out)
