from dataclasses import dataclass


@dataclass
class Job:
    n: int

    def __post_init__(self):
        self._cost = self.n * 2

    def cost(self):
        return self._cost
