TABLE = {}


def action(function):
    TABLE[function.__name__] = function
    return function


def call(name):
    return TABLE[name]()
