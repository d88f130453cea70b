from srv.m import Runner
print(Runner().another().go())
