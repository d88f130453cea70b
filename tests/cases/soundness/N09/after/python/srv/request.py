from dataclasses import dataclass


@dataclass
class Request:
    slot: int
    tokens: int


def make():
    return Request(7, 1).tokens
