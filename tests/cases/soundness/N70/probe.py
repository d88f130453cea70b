from srv.runner import Runner
runner = Runner()
print(runner.load("4"), runner.trace)
try:
    runner.load("x")
except ValueError:
    print(runner.trace)
