def sum(values):
    return len(values)
