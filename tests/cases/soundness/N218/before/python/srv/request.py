from dataclasses import dataclass, replace


@dataclass(frozen=True)
class Request:
    n: int


def grow(n):
    request = replace(Request(n=n), n=n + 1)
    return request.n
