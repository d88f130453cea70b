from srv.runner import Runner
runner = Runner()
runner.run()
print(runner.out)
