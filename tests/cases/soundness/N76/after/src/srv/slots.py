def slots(used, spare=2, *, size):
    return size - used + spare
