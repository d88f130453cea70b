def f(a):
    x = a
    del x
    try:
        return x
    except NameError:
        return None
