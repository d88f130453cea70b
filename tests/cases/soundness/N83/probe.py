from srv.runner import Runner
print(Runner("m").start(), Runner("m").reload(3))
