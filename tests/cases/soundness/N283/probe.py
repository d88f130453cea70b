from srv.runner import Runner
runner = Runner()
runner.note("a")
print(runner.seen)
