import contextvars

FUSE = contextvars.ContextVar("fuse", default=False)
QUEUE = []


def _op(x):
    fuse = FUSE.get()  # read while the scope is open; the queue runs later
    QUEUE.append(lambda: x * (10 if fuse else 1))


def op(x, fuse):
    tok = FUSE.set(fuse)
    try:
        _op(x)
    finally:
        FUSE.reset(tok)


def layer(x):
    op(x, fuse=True)
