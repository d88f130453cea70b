try:
    from srv.limits import SOFT
    print(SOFT)
except NameError as error:
    print(error)
