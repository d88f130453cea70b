def f(*k, **a):
    return a
