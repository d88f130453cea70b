from srv.session import sizes
from srv.runner import Runner
print(sizes(Runner(), [9, 2]), Runner().run(4))
