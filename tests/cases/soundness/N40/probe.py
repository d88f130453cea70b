from srv.runner import Runner
try:
    print(Runner(None).size())
except AttributeError as error:
    print(error)
