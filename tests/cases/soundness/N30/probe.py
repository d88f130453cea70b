from srv.runner import Runner
print(Runner(rank=3, size=4).device(2), Runner(rank=3, size=4).device())
