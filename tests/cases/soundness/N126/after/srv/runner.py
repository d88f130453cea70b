def inside(low, n, high):
    return (low < n) < high
