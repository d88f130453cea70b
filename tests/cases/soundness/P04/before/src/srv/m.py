def f(a):
    for x in a:
        yield x
