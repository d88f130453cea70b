from dataclasses import dataclass


@dataclass
class Request:
    num_tokens: int


def label(n):
    request = Request(num_tokens=n)
    return f"{request}"
