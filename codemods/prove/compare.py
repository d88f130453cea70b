"""Two twins in one world: equal effects, or the deltas (D1 to D9) by which they differ, each with its place.

Effects that nobody can tell apart are one: attributes written between two calls, in whatever order."""

from __future__ import annotations

import re
from collections.abc import Callable
from difflib import SequenceMatcher
from itertools import accumulate
from operator import is_
from typing import Any, NamedTuple

from msgspec import Struct

from codemods.prove.explore import Seen
from codemods.prove.opaque import ATTR, CALL, EVENT, TEXT, Opaque, forgetting, term
from codemods.prove.run import Run
from codemods.prove.settle import Settler, unversioned
from codemods.prove.wording import event as in_words
from codemods.prove.wording import word

_WRITES = ("set", "delete")
_RESULTS = ("return", "raise", "yield", "yielded", "callback returns")
_OF_A_PLACE = frozenset(
    """
        set delete env global table argument later attribute name home star
    """.split()
) | {"set item", "class attribute"}
_DIGITS = re.compile(r"\d+")
_TOLD_APART = 24  # letters of a text that may have values in it
_SPOKEN = ("log", "output", "error output", "warning")


class Difference(NamedTuple):
    """One delta in one world. `old_at`, `new_at`: index of the effect on either side, -1 where there is none. `read`:
    what the new side reads, where that is the difference."""

    code: str
    message: str
    old_at: int
    new_at: int
    read: Opaque | None = None


def agree_at_once(seen: Seen) -> bool:
    """The same effects, term by term: the usual case, and fast."""
    a, b = seen.old.events, seen.new.events
    return len(a) == len(b) and all(map(is_, a, b))


def is_cut(run: Run) -> str:
    """Why a run did not come to its end; empty when it did."""
    if run.events and run.events[-1]._u_kind is EVENT and run.events[-1]._u_parts[0] in ("stopped", "unsupported"):
        return f"{run.events[-1]._u_parts[0]}: {run.events[-1]._u_parts[1]}"
    return ""


class _Effect(Struct, frozen=True, gc=False, eq=False):
    """One effect of a run. `at`: its index. `before`: how many effects that are no writes came before it."""

    term: Opaque
    at: int
    before: int


def differences(seen: Seen, aliases: dict[Opaque, Any] | None = None) -> list[Difference]:
    """The deltas of one world; empty where the twins agree."""
    if agree_at_once(seen):
        return []
    settler = Settler(seen.world, aliases)
    old, old_writes = _split(seen.old)
    new, new_writes = _split(seen.new)
    ends = [len(effects) - 1 for effects, run in ((old, seen.old), (new, seen.new)) if is_cut(run)]
    if ends:  # what a run did before it was cut stands; the other one may have come to its end earlier
        size = max(min(ends), 0)
        old, new = old[:size], new[:size]
        old_writes = [each for each in old_writes if each.before < size]
        new_writes = [each for each in new_writes if each.before < size]
    found = _in_step(old, new, settler)
    marks: _Marks | None = None
    if found is None:
        found, marks = _aligned(_settled(old, settler), _settled(new, settler))
    writes = _settled(old_writes, settler), _settled(new_writes, settler)
    found.extend(_of_writes(*writes, marks, is_fault=seen.is_fault))
    found.sort(key=lambda each: (max(each.new_at, each.old_at), each.code))
    return seen.new.judged(found, seen.old)


def _split(run: Run) -> tuple[list[_Effect], list[_Effect]]:
    """Effects in order, and writes of attributes apart: of those between two effects, the last one to a target."""
    effects: list[_Effect] = []
    writes: list[_Effect] = []
    last: dict[tuple[int, Any], int] = {}
    for index, each in enumerate(run.events):
        kind = each._u_parts[0] if each._u_kind is EVENT else None
        if kind not in _WRITES:
            if kind != "pure":
                effects.append(_Effect(each, index, len(effects)))
            continue
        key = (len(effects), id(each._u_parts[1]))
        if key in last:
            writes[last[key]] = _Effect(each, index, len(effects))
        else:
            last[key] = len(writes)
            writes.append(_Effect(each, index, len(effects)))
    return effects, writes


def _settled(effects: list[_Effect], settler: Settler) -> list[_Effect]:
    return [_Effect(_settle(each.term, settler), each.at, each.before) for each in effects]


def _settle(each: Opaque, settler: Settler) -> Opaque:
    if each._u_kind is CALL:  # made it was, whatever is known of its result
        return term(CALL, *settler.settle(each._u_parts))
    settled = settler.settle(each)
    assert type(settled) is Opaque
    return settled


def _in_step(old: list[_Effect], new: list[_Effect], settler: Settler) -> list[Difference] | None:
    """The differences where both sides do the same things one by one, some of them altered; None where they do not."""
    if len(old) != len(new):
        return None
    found: list[Difference] = []
    missing: list[int] = []
    extra: list[int] = []
    for a, b in zip(old, new, strict=True):
        if a.term is b.term:
            continue
        if _is_other_logger(a.term, b.term):
            found.append(_altered(a.term, a.at, b.term, b.at))
            continue
        x, y = _settle(a.term, settler), _settle(b.term, settler)
        if x is y:
            continue
        if not _alike(x, y):
            return None
        found.append(_altered(x, a.at, y, b.at))
        missing.append(id(x))
        extra.append(id(y))
    if len(missing) > 1 and sorted(missing) == sorted(extra):
        return None  # the same effects in another order
    return found


def _is_other_logger(a: Opaque, b: Opaque) -> bool:
    """The same record of another logger, whatever the world."""
    if a._u_kind is not EVENT or b._u_kind is not EVENT or a._u_parts[0] != "log" or b._u_parts[0] != "log":
        return False
    return a._u_parts[3] is b._u_parts[3] and a._u_parts[2] is b._u_parts[2]


class _Marks(NamedTuple):
    """For each moment of either side, between two effects: how many that both have in common came before it."""

    old: list[int]
    new: list[int]


def _aligned(old: list[_Effect], new: list[_Effect]) -> tuple[list[Difference], _Marks]:
    missing: list[_Effect] = []
    extra: list[_Effect] = []
    shared: tuple[list[int], list[int]] = [0] * len(old), [0] * len(new)
    matcher = SequenceMatcher(None, [id(each.term) for each in old], [id(each.term) for each in new], autojunk=False)
    for tag, a, b, c, d in matcher.get_opcodes():
        if tag == "equal":
            shared[0][a:b], shared[1][c:d] = [1] * (b - a), [1] * (d - c)
        else:
            missing.extend(old[a:b])
            extra.extend(new[c:d])
    found: list[Difference] = []
    for each, there in _matched(missing, extra, lambda x, y: x is y):
        found.append(Difference("D7", f"another order: {in_words(each.term)}", each.at, there.at))
    for each, there in _matched(missing, extra, _alike):
        found.append(_altered(each.term, each.at, there.term, there.at))
        shared[0][each.before] = shared[1][there.before] = 1
    found.extend(_lost(each.term, each.at, -1, "no longer") for each in missing)
    found.extend(_lost(each.term, -1, each.at, "now also") for each in extra)
    return found, _Marks(*(list(accumulate(each, initial=0)) for each in shared))


def _matched(
    missing: list[_Effect], extra: list[_Effect], is_match: Callable[[Opaque, Opaque], bool]
) -> list[tuple[_Effect, _Effect]]:
    """Pairs of what is missing and what is extra, in order; they are taken out of both lists."""
    found: list[tuple[_Effect, _Effect]] = []
    left: list[_Effect] = []
    for each in missing:
        position = next((index for index, other in enumerate(extra) if is_match(each.term, other.term)), -1)
        if position < 0:
            left.append(each)
        else:
            found.append((each, extra.pop(position)))
    missing[:] = left
    return found


def _of_writes(old: list[_Effect], new: list[_Effect], marks: _Marks | None, *, is_fault: bool) -> list[Difference]:
    """marks: None where both sides have the same effects. Where one has a call more, that alone moves no write."""
    missing, extra = list(old), list(new)
    found: list[Difference] = []
    for each, there in _matched(missing, extra, lambda x, y: x is y):
        moments = each.before, there.before
        if marks is not None:
            moments = marks.old[each.before], marks.new[there.before]
        if moments[0] != moments[1]:
            message = f"{word(each.term._u_parts[1])} is written at another moment"
            found.append(Difference("D3" if is_fault else "D2", message, each.at, there.at))
    for each, there in _matched(missing, extra, _alike):
        found.append(_altered(each.term, each.at, there.term, there.at))
    found.extend(_lost_write(each.term, each.at, -1, "no longer", is_fault=is_fault) for each in missing)
    found.extend(_lost_write(each.term, -1, each.at, "now also", is_fault=is_fault) for each in extra)
    return found


def _kind(each: Opaque) -> str:
    return "call" if each._u_kind is CALL else str(each._u_parts[0])


def _alike(a: Opaque, b: Opaque) -> bool:
    """Whether two effects are one that was altered."""
    if _kind(a) != _kind(b):
        return {_kind(a), _kind(b)} == {"return", "raise"}
    if _kind(a) == "call":
        return unversioned(a._u_parts[0]) is unversioned(b._u_parts[0])
    if _kind(a) == "does":
        return unversioned(a._u_parts[1]._u_parts[0]) is unversioned(b._u_parts[1]._u_parts[0])
    if _kind(a) == "patch":
        return False
    if _kind(a) in _OF_A_PLACE:
        return _same(unversioned(a._u_parts[1]), unversioned(b._u_parts[1]))
    return True


def _same(*values: Any) -> bool:
    """Whether frozen values are equal. `==` would ask opaque ones, and they would ask the world."""
    return len({id(term(EVENT, "same", value)) for value in values}) == 1


_alterations: dict[tuple[Opaque, Opaque], tuple[str, str]] = {}
forgetting.append(_alterations.clear)


def _altered(a: Opaque, old_at: int, b: Opaque, new_at: int) -> Difference:
    found = _alterations.get((a, b))
    if found is None:
        found = _alterations[a, b] = _code_of(a, b), _text_of(a, b)
    return Difference(*found, old_at, new_at)


def _text_of(a: Opaque, b: Opaque) -> str:
    if unversioned(a) is unversioned(b):
        return f"a value is read at another moment: {in_words(b)}"
    return f"{in_words(a)}  ->  {in_words(b)}"


def _code_of(a: Opaque, b: Opaque) -> str:
    kind = _kind(a)
    if unversioned(a) is unversioned(b):
        return "D4"
    if kind == "log":
        if not _same(a._u_parts[2], b._u_parts[2]):
            return "D8"
        if not _same(a._u_parts[3], b._u_parts[3]):
            return "D5"
        return "D8" if _same(a._u_parts[1], b._u_parts[1]) else "D1"
    if kind in ("output", "error output", "warning"):
        return "D5"
    if kind == "raise" and _kind(b) == "raise":
        return "D5" if _same(_class_of(a), _class_of(b)) else "D9"
    if "raise" in (kind, _kind(b)):
        return "D9"
    if kind in ("return", "yield", "callback returns", "attribute", "yielded"):
        return "D6"
    return "D1" if kind == "call" and _is_logger_change(a, b) else "D8"


def _class_of(raised: Opaque) -> Any:
    """Of the exception, and of what it was raised from."""
    frozen = raised._u_parts[1]
    if type(frozen) is tuple and frozen[0] == "from":
        return ("from", *(each[:2] if type(each) is tuple else each for each in frozen[1:]))
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


def _lost(each: Opaque, old_at: int, new_at: int, how: str) -> Difference:
    code = {"return": "D6", "raise": "D9", "yield": "D6", "yielded": "D6", "attribute": "D6"}.get(_kind(each), "D8")
    return Difference(code, f"{how}: {in_words(each)}", old_at, new_at)


def _lost_write(each: Opaque, old_at: int, new_at: int, how: str, *, is_fault: bool) -> Difference:
    when = " when the call fails" if is_fault else ""
    return Difference("D3" if is_fault else "D8", f"{how}{when}: {in_words(each)}", old_at, new_at)


def topic(difference: Difference, seen: Seen) -> tuple[Any, ...]:
    """What a difference speaks of, without the values that it has in one world: which call, which attribute, which
    record, on either side."""
    sides = ((seen.old, difference.old_at), (seen.new, difference.new_at))
    about = [_about(run.events[at]) if 0 <= at < len(run.events) else None for run, at in sides]
    read = unversioned(difference.read) if difference.read is not None else None
    return (difference.code, seen.is_fault, id(read), *about)


def _about(event: Opaque) -> Any:
    kind = _kind(event)
    if kind == "call":
        return (kind, id(unversioned(event._u_parts[0])))
    first = event._u_parts[3] if kind == "log" else event._u_parts[1] if len(event._u_parts) > 1 else None
    if kind in _RESULTS or kind in _SPOKEN:
        return (kind, _opening(first))
    return (kind, id(term(EVENT, "about", unversioned(first))))


def _opening(value: Any) -> str:
    """Of a text, how it begins; of anything else, of which kind it is."""
    if type(value) is Opaque and value._u_kind is TEXT:
        return next((part for part in value._u_parts if type(part) is str), "")
    if type(value) is str:
        return _DIGITS.sub("0", value[:_TOLD_APART])
    return value._u_kind if type(value) is Opaque else type(value).__name__
