from srv.pool import run
from srv.runner import Runner
print(Runner(3).start(), run())
