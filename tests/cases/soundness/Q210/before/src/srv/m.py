def run():
    n = 0

    def bump():
        nonlocal n
        n += 1
        return 'b'

    def show():
        bump()
        return f'{n}'

    return show()
