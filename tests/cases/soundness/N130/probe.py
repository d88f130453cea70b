from srv.runner import run
try:
    print(run(0))
except AssertionError as error:
    print(error)
