ROWS = 2


def table(n):
    return [k * k for k in range(n)]
