class Board:
    size: float = 1


def kind():
    return Board.__annotations__["size"]
