from srv.runner import Runner
runner = Runner(0)
runner.setup()
print(runner.pages)
