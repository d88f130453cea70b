RATE = 3


def up(x):
    return x * RATE


def down(x):
    return x / RATE
