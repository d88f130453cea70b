def slots(used, *, size):
    return size - used
