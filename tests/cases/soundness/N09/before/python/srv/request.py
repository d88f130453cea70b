from dataclasses import dataclass


@dataclass
class Request:
    tokens: int
    slot: int


def make():
    return Request(7, 1).tokens
