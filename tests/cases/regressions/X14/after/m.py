from contextlib import contextmanager

_INDENT = [0]


@contextmanager
def _indented(n):
    _INDENT.append(n)
    try:
        yield
    finally:
        _INDENT.pop()


def _lines(rows):
    for r in rows:
        yield " " * _INDENT[-1] + r


def lines(rows, indent):
    with _indented(indent):
        return _lines(rows)


def render(rows):
    return lines(rows, 2)
