from os.path \
    import join, \
    split


def half(path):
    return split(path)[0]
