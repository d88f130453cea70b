import os


def here():
    return os.sep
