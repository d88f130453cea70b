from os.path import split


def half(path):
    return split(path)[0]
