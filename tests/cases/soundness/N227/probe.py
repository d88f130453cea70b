from srv.runner import Runner
try:
    runner = Runner()
    runner.setup(3)
    print(runner.seen)
except RuntimeError as error:
    print(error)
