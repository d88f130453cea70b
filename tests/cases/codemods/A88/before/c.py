def f():
    # start
    a = 1  # one
    # tail
    return a