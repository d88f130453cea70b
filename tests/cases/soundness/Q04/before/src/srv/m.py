LOG = []
def log():
    LOG.append(1)
def f(n, unused):
    if n == 0:
        return 0
    return f(n - 1, log())
def go():
    return f(3, None)
