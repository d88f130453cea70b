def run():
    n = 0

    def bump():
        nonlocal n
        n += 1
        return 'b'

    return n, list(map(lambda x: bump(), [1, 2]))
