from srv.runner import Runner
runner = Runner("m")
runner.start()
print(runner.builds)
