def add(n):
    return n * 10


def run(n):
    return add(n)


def total(sizes):
    try:
        return sum(sizes) + 1
    except TypeError:
        return "no number"
