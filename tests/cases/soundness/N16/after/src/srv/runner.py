from srv.stats import total


def run(lengths):
    return total(lengths)
