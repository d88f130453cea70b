def f(g):
    e = 1
    try:
        g()
    except ValueError as err:
        e = err
    return e
