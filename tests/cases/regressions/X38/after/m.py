def fits(low, size, high):
    return low <= size or size < high
