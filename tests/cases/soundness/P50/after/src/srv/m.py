def f(a, b):
    z = a
    x = b

    class K:
        y = x

    return K
