from srv.runner import Runner
print(Runner().on("stop"))
