def low(n):
    return n - 1


def high(n):
    return n + 1


def run(n):
    return f"{low(n)}..{high(n)}"
