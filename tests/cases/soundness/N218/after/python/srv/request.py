from dataclasses import dataclass, replace


@dataclass(frozen=True)
class Request:
    num_tokens: int


def grow(n):
    request = replace(Request(num_tokens=n), num_tokens=n + 1)
    return request.num_tokens
