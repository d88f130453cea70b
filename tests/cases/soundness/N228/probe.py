from srv.runner import run
try:
    print(run(20))
except NameError as error:
    print(error)
