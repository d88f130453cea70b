SEEN = []


def add(x):
    SEEN.append(x)
