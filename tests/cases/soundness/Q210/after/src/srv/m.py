def run():
    n = 0

    def bump():
        nonlocal n
        n += 1
        return 'b'

    def show():
        m = n
        bump()
        return f'{m}'

    return show()
