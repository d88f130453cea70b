KINDS = {}


def register(name):
    def keep(fn):
        KINDS[name] = fn
        return fn
    return keep
