from srv.runner import Runner
print(Runner.clip(20), Runner().run(3))
