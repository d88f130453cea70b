def run():
    n = 0

    def bump():
        nonlocal n
        n += 1
        return 'b'

    b = list(map(lambda x: bump(), [1, 2]))
    return n, b
