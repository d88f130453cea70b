from srv.runner import Runner
try:
    print(Runner().call("stop"))
except AttributeError as error:
    print(error)
