from srv.runner import Runner
runner = Runner()
runner.on_done = lambda: "late"
print(runner.finish())
