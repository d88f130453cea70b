from typing import NamedTuple


class Pages(NamedTuple):
    pages: int
    rest: int


def split_pages(*, tokens):
    page = 16
    pages = tokens // page
    rest = tokens % page
    return Pages(pages=pages, rest=rest)
