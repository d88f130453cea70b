def width(*, size):
    return size * 2
