from srv.runner import Runner
runner = Runner()
runner.step = 5
print(runner.callbacks[0]())
