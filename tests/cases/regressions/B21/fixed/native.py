def run(x, special=False):
    if special:
        from acts import _act
        return _act(x)
    return x
