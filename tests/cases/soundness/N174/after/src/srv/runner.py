from srv.bounds import high, low


def run(n):
    return f"{low(n)}..{high(n)}"
