DEBUG = False

if DEBUG:

    def double(n):
        return n * 2


def run(n):
    return double(n)
