from srv.deco import fields


@fields
class Board:
    size: int
    level: str
