from srv.runner import load
try:
    print(load({}, "a"))
except LookupError as error:
    print("escaped", error)
