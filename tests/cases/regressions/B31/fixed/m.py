CALLS = []


def compiled(fn):
    def inner(*a):
        CALLS.append(fn.__name__)
        return fn(*a)
    return inner


def topk(x):
    return post(x)


@compiled  # not a thin forwarder, so it stays; it only sits below its one caller now
def post(x):
    return x + 1
