from srv.runner import Runner
runner = Runner()
print(runner.finish(2))
runner.on_done = lambda n: f"late {n}"
print(runner.finish(3))
