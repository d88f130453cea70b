from contextlib import contextmanager

_INDENT = [0]


@contextmanager
def _indented(n):
    _INDENT.append(n)
    try:
        yield
    finally:
        _INDENT.pop()


def _lines(rows, indent):
    for r in rows:
        yield " " * indent + r


def lines(rows, indent):
    with _indented(indent):
        return _lines(rows, _INDENT[-1])  # taken now: the generator runs when the scope is closed


def render(rows):
    return lines(rows, 2)
