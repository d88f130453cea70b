from srv.runner import Runner
runner = Runner()
runner.drop()
print(hasattr(runner, "graph"))
