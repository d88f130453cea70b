from srv.runner import Runner
print(Runner(20).batch(), Runner(3).batch())
