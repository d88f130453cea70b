from srv.runner import Runner
runner = Runner(100)
runner.setup(16)
print(runner.pages, runner.rest)
