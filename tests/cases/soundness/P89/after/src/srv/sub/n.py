X = 1


def f(a):
    total = a * 10
    total += len(str(a))
    return total, __spec__.name
