from srv.runner import Runner
runner = Runner()
runner.run([1, 0, 2])
print(runner.out)
