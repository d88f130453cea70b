from dataclasses import dataclass


@dataclass
class Request:
    n: int


def label(n):
    request = Request(n=n)
    return f"{request}"
