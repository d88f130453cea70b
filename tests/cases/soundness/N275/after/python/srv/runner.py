def sum(n):
    return n * 10


def run(n):
    return sum(n)


def total(sizes):
    try:
        return sum(sizes) + 1
    except TypeError:
        return "no number"
