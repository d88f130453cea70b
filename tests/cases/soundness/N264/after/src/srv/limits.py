PAGE = 16.0


def pages(n):
    return n * PAGE
