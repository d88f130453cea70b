def run():
    n = 0

    def bump():
        nonlocal n
        n += 1
        return 'b'

    b = bump()
    return n, b
