from srv.deco import fields


@fields
class Board:
    level: str
    size: int
