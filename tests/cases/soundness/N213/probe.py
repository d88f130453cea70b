from srv.pool import Pool, used
from srv.runner import Runner
runner = Runner()
runner.step()
print(runner.label(), used(Pool()))
