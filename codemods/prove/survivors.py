"""Mutants that nobody told apart: which of them a spec accepts, with a reason, and which acceptances are out of date.

    [[accepted]]
    id = "boundary:pick_cpu:2f0c1a9b7e:1"
    why = "equal only for an empty list, which raises above"

Whether a mutant survived is for others to find out; the other keys of a spec are their owners'."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from enum import Enum
from typing import NamedTuple

from msgspec import Struct, convert

from codemods.prove.mutants import Kind, Mutant
from codemods.schema.errors import UnmovedError
from codemods.schema.toml_check import Problem, TomlProblems, check_table, did_you_mean, shown
from codemods.schema.toml_text import BadToml, KeyPath, TomlText

_KEY = "accepted"
_LISTED = 20  # out-of-date acceptances that a message names


class Accepted(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """One mutant, by its id, that may survive, and why no test could tell it apart."""

    id: str
    why: str


class InvalidAccepted(TomlProblems):
    """The `[[accepted]]` tables of a spec say something that can't be."""

    code = "invalid-accepted"


class Lapse(Enum):
    """Why an acceptance is out of date."""

    KILLED = "killed"  # told apart by now
    GONE = "gone"  # the code it was about has changed
    ABSENT = "absent"  # one of the two


_LAPSES = {
    Lapse.KILLED: "is told apart now",
    Lapse.GONE: "is no mutant of this code any more",
    Lapse.ABSENT: "does not survive",
}


class Stale(Struct, frozen=True):
    """An acceptance that is out of date."""

    accepted: Accepted
    lapse: Lapse


class Judged(NamedTuple):
    """Survivors without and with a reason, and the reasons that are out of date. It passes when only the middle one has
    anything."""

    unexplained: tuple[Mutant, ...]
    explained: tuple[tuple[Mutant, Accepted], ...]
    stale: tuple[Stale, ...]


class StaleAccepted(UnmovedError):
    """A spec accepts mutants that do not survive."""

    code = "stale-accepted"
    exit_code = 1

    def __init__(self, stale: Sequence[Stale], *, path: str = "") -> None:
        lines = [f"\n  {each.accepted.id} {_LAPSES[each.lapse]}" for each in stale[:_LISTED]]
        rest = f"\n  and {len(stale) - _LISTED} more" if len(stale) > _LISTED else ""
        number = "1 accepted survivor is" if len(stale) == 1 else f"{len(stale)} accepted survivors are"
        super().__init__(
            f"{number} out of date{''.join(lines)}{rest}", fix="take them out of the `[[accepted]]` tables", path=path
        )
        self.stale = tuple(stale)


def parse_accepted(text: str, path: str) -> tuple[Accepted, ...]:
    """The acceptances of a spec. `path` is what messages call it. Raises InvalidAccepted with all that is wrong."""
    try:
        document = TomlText(text)
    except BadToml as bad:
        problem = Problem(code="bad-toml", line=bad.line, message=f"not TOML: {bad.message}", fix="mend the syntax")
        raise InvalidAccepted(path, [problem]) from bad
    found, problems = read_accepted(document.value.get(_KEY, []), document.line_of)
    if problems:
        raise InvalidAccepted(path, problems)
    return found


def read_accepted(raw: object, line_of: Callable[[KeyPath], int]) -> tuple[tuple[Accepted, ...], list[Problem]]:
    """The value of the key `accepted` of a spec that is parsed already, and what is wrong with it.

    line_of: the line of a key path, which begins with `accepted`."""
    if not isinstance(raw, list) or not all(isinstance(each, Mapping) for each in raw):
        message = f"`{_KEY}` is {shown(raw)}, but must be a list of tables"
        return (), [Problem(code="wrong-type", line=line_of((_KEY,)), message=message, fix=f"write [[{_KEY}]] tables")]
    problems: list[Problem] = []
    found: dict[str, Accepted] = {}
    for index, table in enumerate(raw):
        at: KeyPath = (_KEY, index)
        wrong = list(check_table(table, Accepted, name=f"`{_KEY}` {index + 1}", at=at, line_of=line_of))
        if not wrong:
            accepted = convert(table, Accepted)
            wrong = list(_doubts(accepted, found, at, line_of))
            found.setdefault(accepted.id, accepted)
        problems += wrong
    return tuple(found.values()), problems


def _doubts(
    accepted: Accepted, others: Mapping[str, Accepted], at: KeyPath, line_of: Callable[[KeyPath], int]
) -> Iterable[Problem]:
    if not accepted.why.strip():
        message = f"mutant {accepted.id!r} is accepted without a reason"
        yield Problem(
            code="no-reason", line=line_of((*at, "why")), message=message, fix="say why no run can tell it apart"
        )
    kind, *rest = accepted.id.split(":")
    known = [each.value for each in Kind]
    if len(rest) != 3 or not rest[-1].isdigit():
        message = f"{shown(accepted.id)} is not the id of a mutant (kind:symbol:digest:number)"
        yield Problem(
            code="bad-value", line=line_of((*at, "id")), message=message, fix="copy it from a report of survivors"
        )
    elif kind not in known:
        message = f"{shown(accepted.id)} begins with {kind!r}, which is no kind of mutant"
        yield Problem(code="bad-value", line=line_of((*at, "id")), message=message, fix=did_you_mean(kind, known))
    elif accepted.id in others:
        message = f"mutant {accepted.id!r} is accepted twice"
        yield Problem(code="duplicate", line=line_of((*at, "id")), message=message, fix="leave one of the tables")


def judge(
    survivors: Iterable[Mutant],
    accepted: Iterable[Accepted],
    *,
    existing: Collection[str] | None = None,
    untried: Collection[str] = (),
) -> Judged:
    """Which survivors have a reason, and which reasons have no survivor.

    existing: ids of all mutants of the code, where they are known: it tells what is killed from what is gone.
    untried: ids of those that a budget left out; what was not run is not out of date."""
    reasons = {each.id: each for each in accepted}
    left = sorted({each.id: each for each in survivors}.values(), key=lambda each: (each.line, each.column, each.id))
    idle = {each.id for each in left} | set(untried)
    lapsed = [each for each in reasons.values() if each.id not in idle]
    return Judged(
        unexplained=tuple(each for each in left if each.id not in reasons),
        explained=tuple((each, reasons[each.id]) for each in left if each.id in reasons),
        stale=tuple(Stale(each, _lapse(each, existing)) for each in lapsed),
    )


def _lapse(accepted: Accepted, existing: Collection[str] | None) -> Lapse:
    if existing is None:
        return Lapse.ABSENT
    return Lapse.KILLED if accepted.id in existing else Lapse.GONE
