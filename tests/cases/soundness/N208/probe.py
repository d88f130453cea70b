from srv.runner import Runner
from srv.session import pages
print(Runner().pages(64), pages(32))
