from srv.runner import Runner
runner = Runner()
runner.setup()
print(runner.out)
