from typing import NamedTuple


class Args(NamedTuple):
    host: str
    port: int
