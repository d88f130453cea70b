"""Start the server."""


def usage():
    return "usage: " + __doc__
