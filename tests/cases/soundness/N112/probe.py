from srv.runner import Runner
runner = Runner()
runner.advance()
print(runner.plan(2))
