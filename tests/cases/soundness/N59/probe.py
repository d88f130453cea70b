from srv.runner import Runner
runner = Runner(40)
runner.setup()
print(runner.pages, runner.names, runner.ready)
