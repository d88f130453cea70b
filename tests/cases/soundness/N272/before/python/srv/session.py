from srv import high, low


def both(n):
    return low.bound(n), high.bound(n)
