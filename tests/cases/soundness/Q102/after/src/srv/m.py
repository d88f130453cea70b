STEPS = {}


def register(function):
    STEPS[function.__name__] = function
    return function


def make():
    @register
    def advance(value):
        return value + 1

    return advance(1)
