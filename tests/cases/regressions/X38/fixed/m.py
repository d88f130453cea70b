def fits(low, size, high):
    return low <= size and size < high
