from srv.runner import Runner
runner = Runner()
try:
    runner.load("x")
except ValueError as error:
    print(error, runner.out)
