from srv.runner import run
try:
    print(run("stop"))
except KeyError as error:
    print(error)
