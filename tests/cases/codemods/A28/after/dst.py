from os import linesep


def ends(text):
    return text.endswith(linesep)
