from srv.session import load
try:
    print(load("torch"))
except ModuleNotFoundError as error:
    print(error)
