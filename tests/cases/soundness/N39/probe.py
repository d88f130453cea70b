from srv.runner import Runner
print(Runner().pair())
