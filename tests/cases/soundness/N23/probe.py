from srv.runner import Runner
runner = Runner()
runner.setup(3)
print(runner.seen, runner.size)
