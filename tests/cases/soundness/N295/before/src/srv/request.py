from dataclasses import dataclass


@dataclass(frozen=True)
class Request:
    n: int
