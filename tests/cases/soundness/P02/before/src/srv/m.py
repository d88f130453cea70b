def f(*a, **k):
    return a
