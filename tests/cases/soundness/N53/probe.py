from srv.runner import Runner
runner = Runner(100)
runner.setup()
print(runner.pages, runner.rest)
