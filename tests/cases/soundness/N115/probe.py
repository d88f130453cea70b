from srv.runner import Runner
runner = Runner()
print(runner.run(2, True), runner.run(2, False), runner.out)
