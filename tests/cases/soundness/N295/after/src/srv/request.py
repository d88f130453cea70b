from dataclasses import dataclass


@dataclass(frozen=True)
class Request:
    num_tokens: int
