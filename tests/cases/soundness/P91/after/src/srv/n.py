from srv import settings


def i():
    return settings.LIMIT


def f(a=settings.LIMIT):
    total = a * 10
    total += len(str(a))
    return total
