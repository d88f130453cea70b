def pick(size):
    return size or 8
