def run(n):
    assert n > 0, "no steps"
    return n
