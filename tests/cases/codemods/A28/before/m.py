from os import (
    sep,  # keep: used below
    linesep,  # plug-in reads it
)


def ends(text):
    return text.endswith(linesep)


print(len(sep))
