from srv.actions import call
try:
    print(call("halt"))
except KeyError as error:
    print(error)
