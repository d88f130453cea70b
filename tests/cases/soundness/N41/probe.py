from srv.runner import Runner
from srv.session import total
print(Runner().plan(9), total([9, 2]))
