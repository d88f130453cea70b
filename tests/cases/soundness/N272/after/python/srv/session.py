from srv import high, low


def both(n):
    return high.bound(n), low.bound(n)
