def run():
    n = 0

    def bump():
        return n + 1

    return n, bump()
