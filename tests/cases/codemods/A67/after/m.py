def scale(x):
    return x * 2


class A:
    pass
