def pick(size):
    return 8 if size is None else size
