def run():
    n = 0

    def bump():
        nonlocal n
        n += 1
        return 'b'

    out = []
    for _ in range(2):
        out.append(n)
        bump()
    return out
