from srv.stats import longest


def run(lengths):
    return longest(lengths)
