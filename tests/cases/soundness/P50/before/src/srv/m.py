def f(a, b):
    x = a
    z = b

    class K:
        y = x

    return K
