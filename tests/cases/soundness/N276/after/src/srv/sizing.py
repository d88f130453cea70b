from typing import NamedTuple


class Pages(NamedTuple):
    rest: int
    pages: int


def split(n):
    return Pages(pages=n // 16, rest=n % 16)
