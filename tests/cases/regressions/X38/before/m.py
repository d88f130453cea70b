def fits(low, size, high):
    return low <= size < high
