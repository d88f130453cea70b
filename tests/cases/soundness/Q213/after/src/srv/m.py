def run():
    n = 0

    def bump():
        nonlocal n
        n += 1
        return 'b'

    out = []
    m = n
    for _ in range(2):
        out.append(m)
        bump()
    return out
