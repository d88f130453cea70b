try:
    from srv.table import TABLE
    print(TABLE)
except NameError as error:
    print(error)
