from srv.table import add


def make():
    def step(value):
        return value + 1

    add(step)
