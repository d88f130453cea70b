LOG = []
def log():
    LOG.append(1)
def f(n):
    if n == 0:
        return 0
    return f(n - 1)
def go():
    return f(3)
