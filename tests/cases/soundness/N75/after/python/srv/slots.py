def slots(used, spare=0, *, size):
    return size - used + spare
