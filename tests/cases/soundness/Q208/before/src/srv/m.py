def run():
    n = 0

    def bump():
        nonlocal n
        n += 1
        return 'b'

    bump()
    return f'{n}'
