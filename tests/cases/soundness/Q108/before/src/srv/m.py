from srv.table import add


def step(value):
    return value + 1


add(step)
