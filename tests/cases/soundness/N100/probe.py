try:
    from srv.runner import Runner
    print(Runner(3).size())
except AttributeError as error:
    print("no slot")
