"""Attributes that the new twin reads on a path where the old one does not: where they may be missing, it fails."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from codemods.prove.compare import Difference
from codemods.prove.explore import Seen
from codemods.prove.opaque import ATTR, CALL, ROOT, Opaque
from codemods.prove.settle import unversioned
from codemods.prove.wording import word


def early_reads(seen: Seen, is_certain: Callable[[Opaque], bool] = lambda _: False) -> list[Difference]:
    """D4: attributes of inputs, and of what these hold, that the new twin reads on a path where the old one does not,
    but for those that are certainly there."""
    reads = seen.new.reads
    candidates = [each for each in reads if each not in seen.old.reads and _is_input(each)]
    if not candidates:
        return []
    names = {each._u_parts[1] for each in candidates}
    known = {unversioned(each) for each in seen.old.reads if each._u_parts[1] in names}
    callees = [each._u_parts[0] for each in seen.new.events if each._u_kind is CALL]
    known.update([unversioned(each) for each in callees if each._u_kind is not ATTR or each._u_parts[1] in names])
    found = []
    for each in sorted(candidates, key=reads.__getitem__):
        plain = unversioned(each)
        if plain not in known and not is_certain(plain):
            message = f"{word(plain)} is read where it was not"
            found.append(Difference("D4", message, -1, max(reads[each] - 1, 0), each))
    return found


def _is_input(value: Any) -> bool:
    """An attribute that may be missing: any number of steps from a parameter or from self."""
    steps = 0
    while type(value) is Opaque and value._u_kind is ATTR:
        value, steps = value._u_parts[0], steps + 1
    return steps > 0 and type(value) is Opaque and value._u_kind is ROOT
