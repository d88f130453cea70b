def h(x):
    del x


def f(a):
    x = a
    h(x)
    try:
        return x
    except NameError:
        return None
