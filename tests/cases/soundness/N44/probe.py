from srv.runner import Runner
runner = Runner(1, 4)
runner.rebalance()
print(runner.label())
