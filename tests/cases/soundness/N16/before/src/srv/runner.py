def total(lengths):
    return sum(lengths)


def run(lengths):
    return total(lengths)
