from dataclasses import dataclass


@dataclass
class Request:
    tokens: int
    (slot): int = 0
