from srv.runner import Runner
runner = Runner()
runner.setup(2)
print(runner.size)
