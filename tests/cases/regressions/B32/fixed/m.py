def _key(req):
    return tuple(req["fill"] + req["out"])


def insert(req, store):
    store[_key(req)] = 1
