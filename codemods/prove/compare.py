"""Two twins in one world: equal effects, or the deltas (D1 to D9) by which they differ, each with its place.

Effects that nobody can tell apart are one: attributes written between two calls, in whatever order."""

from __future__ import annotations

from difflib import SequenceMatcher
from operator import is_
from typing import Any, NamedTuple

from codemods.prove.explore import Seen
from codemods.prove.opaque import ATTR, CALL, EVENT, ROOT, Opaque, term
from codemods.prove.run import Run
from codemods.prove.settle import Settler, unversioned
from codemods.prove.wording import event as in_words
from codemods.prove.wording import word

_WRITES = ("set", "delete")


class Difference(NamedTuple):
    """One delta in one world. `old_at`, `new_at`: index of the effect on either side, -1 where there is none."""

    code: str
    message: str
    old_at: int
    new_at: int


def agree_at_once(seen: Seen) -> bool:
    """The same effects, term by term: the usual case, and fast."""
    a, b = seen.old.events, seen.new.events
    return len(a) == len(b) and all(map(is_, a, b))


def is_cut(run: Run) -> str:
    """Why a run did not come to its end; empty when it did."""
    if run.events and run.events[-1]._u_kind is EVENT and run.events[-1]._u_parts[0] in ("stopped", "unsupported"):
        return str(run.events[-1]._u_parts[1])
    return ""


def differences(seen: Seen, aliases: dict[Opaque, Any] | None = None) -> list[Difference]:
    """The deltas of one world; empty where the twins agree."""
    if agree_at_once(seen):
        return []
    settler = Settler(seen.world, aliases)
    old, new = _normal(seen.old, settler), _normal(seen.new, settler)
    if is_cut(seen.old) or is_cut(seen.new):
        size = min(len(old), len(new)) - 1
        old, new = old[: max(size, 0)], new[: max(size, 0)]
    if len(old) == len(new) and all(a[0] is b[0] for a, b in zip(old, new, strict=True)):
        return []
    return _classify(old, new, is_fault=seen.is_fault)


def _normal(run: Run, settler: Settler) -> list[tuple[Opaque, int]]:
    """Effects as settled terms with their index; runs of writes sorted, the last write to a target kept."""
    found: list[tuple[Opaque, int]] = []
    writes: dict[Any, tuple[Opaque, int]] = {}

    def flush() -> None:
        found.extend(sorted(writes.values(), key=lambda each: word(each[0]._u_parts[1])))
        writes.clear()

    for index, each in enumerate(run.events):
        if each._u_kind is EVENT and each._u_parts[0] == "pure":
            continue
        settled = settler.settle(each)
        if type(settled) is not Opaque:
            settled = term(EVENT, "call", each)
        if settled._u_kind is EVENT and settled._u_parts[0] in _WRITES:
            target = settled._u_parts[1]
            writes.pop(target, None)
            writes[target] = (settled, index)
            continue
        flush()
        found.append((settled, index))
    flush()
    return found


def _classify(old: list[tuple[Opaque, int]], new: list[tuple[Opaque, int]], *, is_fault: bool) -> list[Difference]:
    found: list[Difference] = []
    missing: list[tuple[Opaque, int]] = []
    extra: list[tuple[Opaque, int]] = []
    matcher = SequenceMatcher(None, [id(each) for each, _ in old], [id(each) for each, _ in new], autojunk=False)
    for tag, a, b, c, d in matcher.get_opcodes():
        if tag != "equal":
            missing.extend(old[a:b])
            extra.extend(new[c:d])
    for each, at in list(missing):
        there = next((other for other in extra if other[0] is each), None)
        if there is not None:
            missing.remove((each, at))
            extra.remove(there)
            found.append(_moved(each, at, there[1], is_fault=is_fault))
    for each, at in list(missing):
        there = next((other for other in extra if _alike(each, other[0])), None)
        if there is not None:
            missing.remove((each, at))
            extra.remove(there)
            found.append(_altered(each, at, *there))
    found.extend(_lost(each, at, -1, "no longer", is_fault=is_fault) for each, at in missing)
    found.extend(_lost(each, -1, at, "now also", is_fault=is_fault) for each, at in extra)
    return sorted(found, key=lambda each: (max(each.new_at, each.old_at), each.code))


def _kind(each: Opaque) -> str:
    return "call" if each._u_kind is CALL else str(each._u_parts[0])


def _moved(each: Opaque, old_at: int, new_at: int, *, is_fault: bool) -> Difference:
    if _kind(each) in _WRITES:
        code = "D3" if is_fault else "D2"
        return Difference(code, f"{word(each._u_parts[1])} is written at another moment", old_at, new_at)
    return Difference("D7", f"another order: {in_words(each)}", old_at, new_at)


def _alike(a: Opaque, b: Opaque) -> bool:
    """Whether two effects are one that was altered."""
    if _kind(a) != _kind(b):
        return {_kind(a), _kind(b)} == {"return", "raise"}
    if _kind(a) == "call":
        return unversioned(a._u_parts[0]) is unversioned(b._u_parts[0])
    if _kind(a) in ("set", "set item", "env", "global", "table", "class attribute", "argument"):
        return _same(unversioned(a._u_parts[1]), unversioned(b._u_parts[1]))
    return True


def _same(*values: Any) -> bool:
    """Whether frozen values are equal. `==` would ask opaque ones, and they would ask the world."""
    return len({id(term(EVENT, "same", value)) for value in values}) == 1


def _altered(a: Opaque, old_at: int, b: Opaque, new_at: int) -> Difference:
    kind = _kind(a)
    if unversioned(a) is unversioned(b):
        return Difference("D4", f"a value is read at another moment: {in_words(b)}", old_at, new_at)
    text = f"{in_words(a)}  ->  {in_words(b)}"
    if kind == "log":
        is_level = _same(a._u_parts[2], b._u_parts[2])
        code = "D5" if is_level else "D8"
        if is_level and _same(a._u_parts[3], b._u_parts[3]):
            code = "D8" if _same(a._u_parts[1], b._u_parts[1]) else "D1"
        return Difference(code, text, old_at, new_at)
    if kind in ("output", "error output", "warning"):
        return Difference("D5", text, old_at, new_at)
    if kind == "raise" and _kind(b) == "raise":
        return Difference("D5" if _same(_class_of(a), _class_of(b)) else "D9", text, old_at, new_at)
    if "raise" in (kind, _kind(b)):
        return Difference("D9", text, old_at, new_at)
    if kind in ("return", "yield", "callback returns"):
        return Difference("D6", text, old_at, new_at)
    if kind == "call" and _is_logger_change(a, b):
        return Difference("D1", text, old_at, new_at)
    return Difference("D8", text, old_at, new_at)


def _class_of(raised: Opaque) -> Any:
    frozen = raised._u_parts[1]
    return frozen[:2] if type(frozen) is tuple else frozen


def _is_logger_change(a: Opaque, b: Opaque) -> bool:
    """The same call on a logger that was made with another name."""
    x, y = a._u_parts[0], b._u_parts[0]
    return (
        x._u_kind is ATTR
        and y._u_kind is ATTR
        and x._u_parts[1] == y._u_parts[1]
        and _same(a._u_parts[1:], b._u_parts[1:])
        and "log" in word(x._u_parts[0]).lower()
    )


def _lost(each: Opaque, old_at: int, new_at: int, how: str, *, is_fault: bool) -> Difference:
    kind = _kind(each)
    if kind in _WRITES and is_fault:
        return Difference("D3", f"{how} when the call fails: {in_words(each)}", old_at, new_at)
    code = {"return": "D6", "raise": "D9", "yield": "D6"}.get(kind, "D8")
    return Difference(code, f"{how}: {in_words(each)}", old_at, new_at)


def early_reads(seen: Seen) -> list[Difference]:
    """D4: attributes of inputs that the new twin reads on a path where the old one does not."""
    settler = Settler(seen.world)
    known = {unversioned(settler.settle(each)) for each in seen.old.reads}
    found = []
    for each, moment in seen.new.reads.items():
        plain = unversioned(settler.settle(each))
        if type(plain) is Opaque and plain not in known and _is_input(plain):
            found.append(Difference("D4", f"{word(plain)} is read where it was not", -1, max(moment - 1, 0)))
    return found


def _is_input(value: Opaque) -> bool:
    """An attribute of an input that may be missing: one step from a parameter or from self."""
    if value._u_kind is not ATTR:
        return False
    base = value._u_parts[0]
    return type(base) is Opaque and base._u_kind is ROOT
