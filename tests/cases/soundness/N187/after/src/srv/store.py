from srv.types import Request


def dump(n):
    request = Request(n)
    kind = type(request)
    return {"class": f"{kind.__module__}.{kind.__qualname__}", **vars(request)}
