from srv.runner import Runner, run
print(Runner().call("stop"), run())
