from srv.runner import Runner
runner = Runner()
runner.hook = runner.bump
print(runner.label())
