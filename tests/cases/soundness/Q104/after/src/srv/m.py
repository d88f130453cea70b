def make():
    return _make()


def _make():
    def step(value):
        return value + 1

    return step


def show(function):
    return function.__qualname__
