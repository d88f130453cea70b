def max(values):
    return sum(values)
