from dataclasses import dataclass


@dataclass
class Request:
    tokens: int
    slot: int = 0

    def size(self):
        return self.tokens + self.slot
