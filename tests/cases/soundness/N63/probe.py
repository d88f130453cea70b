from srv.runner import Runner
try:
    print(Runner().load("x"))
except ValueError as error:
    print(error)
