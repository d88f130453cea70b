from dataclasses import dataclass
from typing import Optional


@dataclass(eq=False, repr=False)  # equality, hash and text stay those of a plain object
class Args:
    start: Optional[int] = None
    top: Optional[int] = None


def want(a):
    return "yes" if a.start else "no"
