from m import T


def first[S](other: T, *, items: list[S]) -> S:
    return items[0]
