def longest(lengths):
    return max(lengths)


def run(lengths):
    return longest(lengths)
