from srv.runner import Runner
print(Runner("m").start())
