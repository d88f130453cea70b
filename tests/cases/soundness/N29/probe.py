try:
    from srv.runner import run
    print(run(2))
except NameError as error:
    print(error)
