PAGE = 16


def pages(n):
    return n * PAGE
