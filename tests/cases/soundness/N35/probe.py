from srv.runner import Runner
from srv.session import open_session
print(Runner(3).start())
try:
    print(open_session(Runner(3)))
except AttributeError as error:
    print(error)
