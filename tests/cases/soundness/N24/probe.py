from srv.runner import Runner
try:
    print(Runner(5).room(2))
except AttributeError as error:
    print(error)
