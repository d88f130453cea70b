from srv.runner import Runner
try:
    print(Runner(2).run())
except TypeError as error:
    print(error)
