from srv.draft import Draft
from srv.runner import Runner
print(Runner().run(), Draft().run())
