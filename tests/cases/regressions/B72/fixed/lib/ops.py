def q():
    return 1


q.__module__ = "lib.fp8"  # what is stored names the old path
