def filt(x):
    return x > 1


filt.__module__ = "pk.table"  # what is stored names the old path
