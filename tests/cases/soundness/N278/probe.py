from srv.runner import run
try:
    print(run(2))
except NameError as error:
    print(error)
