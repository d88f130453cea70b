from dataclasses import dataclass


@dataclass
class Job:
    n: int

    @property
    def _cost(self):
        return self.n * 2

    def cost(self):
        return self._cost
