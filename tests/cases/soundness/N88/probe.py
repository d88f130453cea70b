from srv.runner import Runner
from srv.session import report
runner = Runner()
runner.step()
print(report(runner))
