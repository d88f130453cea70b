from srv.session import ordered
try:
    print(ordered([3, 1]))
except AttributeError as error:
    print(error)
