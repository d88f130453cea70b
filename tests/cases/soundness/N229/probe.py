from srv.runner import Runner
try:
    print(Runner().label())
except AttributeError as error:
    print(error)
