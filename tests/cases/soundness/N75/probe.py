from srv.runner import Runner
print(Runner(3).slots(1, spare=5))
