from typing import NamedTuple


class Pages(NamedTuple):
    pages: int
    rest: int


def split(n):
    return Pages(pages=n // 16, rest=n % 16)
