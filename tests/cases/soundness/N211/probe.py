from srv.runner import Runner
runner = Runner()
runner.step()
print(runner.trace)
