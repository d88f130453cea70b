def rebuild(x):
    return x


rebuild.__module__ = "np_.core"  # older readers know no other path
