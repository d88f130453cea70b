from srv.runner import Runner
runner = Runner()
runner.run([3, 0, 4])
print(runner.out)
