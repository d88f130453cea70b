from srv.runner import Runner
try:
    print(Runner(1, 4).is_first())
except AttributeError as error:
    print(error)
