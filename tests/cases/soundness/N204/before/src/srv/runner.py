from srv.names import mk


def clip(n):
    return min(n, 8)


def wrap(text) :
    return '<'+text+'>'


def run(n):
    return wrap(mk(clip(n)))
