"""Whether a difference shows only because an operation on an input was left uninterpreted: `x.startswith("[")` against
`x[:1] == "["`. Such a difference is for concrete values to decide."""

from __future__ import annotations

from collections.abc import Collection
from typing import Any

from codemods.prove.opaque import ATTR, CALL, GLOBAL, ROOT, Opaque
from codemods.prove.pairing import Found
from codemods.prove.settle import subterms


def is_interpreted(found: Found, roots: Collection[Opaque]) -> bool:
    """Whether the world asks something of an input that has a domain, or an effect that differs is computed from one."""
    asked = [each for choice in found.seen.world.trail for each in choice.question[1:] if type(each) is Opaque]
    if any(not subterms(each).isdisjoint(roots) for each in asked):
        return True
    difference = found.difference
    events: list[Opaque] = []
    if difference.old_at >= 0:
        events.append(found.seen.old.events[difference.old_at])
    if difference.new_at >= 0:
        events.append(found.seen.new.events[difference.new_at])
    return any(_is_computed(each, roots) for event in events for each in subterms(event))


def _is_computed(value: Opaque, roots: Collection[Opaque]) -> bool:
    """A term that is neither an input, nor an attribute of one, nor a call that is only handed some."""
    if value._u_kind in (ROOT, GLOBAL, ATTR, "event"):
        return False
    if value._u_kind is CALL:
        return not subterms_of(value._u_parts[0]).isdisjoint(roots)
    return not subterms(value).isdisjoint(roots)


def subterms_of(value: Any) -> frozenset[Opaque]:
    return subterms(value) if type(value) is Opaque else frozenset()
