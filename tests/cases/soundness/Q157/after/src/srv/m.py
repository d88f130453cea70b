from typing import NamedTuple


class Size(NamedTuple):
    width: int
    height: int


def area(size, scale):
    return size.width * size.height * scale


def run():
    return area(Size(2, 3), 4)
