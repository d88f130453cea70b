from srv.runner import Runner
runner = Runner()
runner.advance(3)
runner.advance(4)
print(runner.step)
