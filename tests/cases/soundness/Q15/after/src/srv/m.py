def f(g):
    e = 1
    try:
        g()
    except ValueError as e:
        pass
    return e
