"""How changed lines that nothing certifies are handed over: lines by path; those of the old side by `old:` and the
path. Under `imports:` and a path: what importing the file does may differ, whatever its lines say."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from typing import NamedTuple

OLD, IMPORTS = "old:", "imports:"
Residue = Mapping[str, Collection[int]]


class Renamed(NamedTuple):
    """What the ledger was made to hold of an attribute: `.old` was read where `.holder.name` is now; holder is empty
    for another name alone."""

    old: str
    holder: str
    name: str
