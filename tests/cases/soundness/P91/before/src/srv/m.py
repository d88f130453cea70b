from srv import settings


def f(a=settings.LIMIT):
    total = a * 10
    total += len(str(a))
    return total


def g():
    return f() + f(2)
