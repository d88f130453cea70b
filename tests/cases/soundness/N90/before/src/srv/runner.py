def run(n, eager=False):
    return n if eager else n + 1
