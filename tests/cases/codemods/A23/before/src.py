import posixpath


def root():
    return posixpath.sep
