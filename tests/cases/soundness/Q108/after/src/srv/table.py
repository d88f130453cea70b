STEPS = {}


def add(function):
    STEPS[function.__name__] = function
