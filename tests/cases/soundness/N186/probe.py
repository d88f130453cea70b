from srv.hooks import run
try:
    print(run(20))
except AttributeError as error:
    print(error)
