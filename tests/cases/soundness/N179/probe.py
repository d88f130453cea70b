from srv.runner import Runner
from srv.session import demote
runner = Runner(1, 4)
demote(runner)
print(runner.label())
