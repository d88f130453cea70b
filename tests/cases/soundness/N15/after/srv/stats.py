def total(values):
    max = 0
    for value in values:
        max += value
    return max


def longest(lengths):
    return max(lengths)
