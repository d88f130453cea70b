"""A change between two trees to the pairs that it asks for: those of the ledger's residue, or all; what is found by
reading alone; and what no pair can cover. A merge counts for what none of its parents has. Runs nothing."""

from __future__ import annotations

import json
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

from msgspec.structs import replace

from codemods.cli.prove_trees import PLAN
from codemods.cli.session import without_collector
from codemods.prove.residue import IMPORTS, OLD, Renamed
from codemods.report.prove_model import Unproved
from codemods.schema.errors import UnmovedError
from codemods.schema.prove import Delta, Pair, PairKind, PairResult, ProofVerdict
from codemods.schema.verdict import Ledger, Problem, Side
from codemods.source.files import FileSet
from codemods.verify.change import TreeChange

if TYPE_CHECKING:
    from codemods.cli.prove_plan import PlannedStep

Residue = dict[str, set[int]]
Lines = dict[tuple[str, str], set[int]]  # of a side (`old`, `new`) and a path
_OF_IMPORTS = ("U108", "U109")


class Change(NamedTuple):
    """label: the commit, or the step; "" where there is one change only. found: what is known without running anything.

    old_name, new_name: the trees as somebody could name them again: see prove_trees.py. identity: of both, where they
    have one without being read."""

    label: str
    old: FileSet
    new: FileSet
    changed: tuple[str, ...]
    pairs: tuple[Pair, ...]
    found: tuple[PairResult, ...] = ()
    unproved: tuple[Unproved, ...] = ()
    old_name: str = ""
    new_name: str = ""
    identity: str = ""


def changed_paths(change: TreeChange) -> set[str]:
    return {each.path for each in change.changes} | {each.path for each in change.opaque}


def derived(
    label: str, change: TreeChange, names: tuple[str, str], *, takes_all: bool, known: Read | None = None
) -> Change:
    """With the pairs that the ledger leaves, or with all. known: what reading the change gave."""
    if not changed_paths(change):
        return Change(label, change.old, change.new, (), (), old_name=names[0], new_name=names[1])
    found = known or read(change)
    if takes_all:
        return change_with(label, change, None, found.left, "all", names, changed_lines(change), renamed_of(found))
    lines = lines_of(found)
    return change_with(label, change, residue_of(found), found.left, "ledger", names, lines, renamed_of(found))


class Read(NamedTuple):
    """What reading alone says of a change. left: readers of what is gone."""

    ledger: Ledger
    left: tuple[Problem, ...]


def read(change: TreeChange) -> Read:
    from codemods.verify.certificate import examine
    from codemods.verify.chain import checks

    explain, readers = checks(None, None)
    left: list[Problem] = []

    def noted(each: TreeChange) -> Sequence[Problem]:
        found = readers(each)
        left.extend(found)
        return found

    with without_collector():
        return Read(examine(change, explain, noted), tuple(left))


def residue_of(found: Read) -> Residue:
    """The lines that nothing certifies, and those that did not change and may do something else now."""
    residue: Residue = {}
    for entry in found.ledger.residue:
        key = entry.path if entry.side is Side.NEW else f"{OLD}{entry.path}"
        residue.setdefault(key, set()).update(range(entry.line, entry.line + entry.lines))
    for problem in found.ledger.problems:
        if problem.line and problem not in found.left and (problem.code == "differs" or problem.code[:1] == "U"):
            # Of which side the line is, only its words say; a pair too many costs time and no more.
            for key in (problem.path, f"{OLD}{problem.path}"):
                residue.setdefault(key, set()).add(problem.line)
            if problem.code in _OF_IMPORTS:
                residue.setdefault(f"{IMPORTS}{problem.path}", set()).add(problem.line)
    return residue


def renamed_of(found: Read) -> list[Renamed]:
    """Attributes that are what others were, as the ledger was made to hold."""
    made = []
    for claim in found.ledger.claims:
        kind, *words = json.loads(claim)
        if kind == "attribute":
            made.append(Renamed(words[0], "" if len(words) == 2 else words[1], words[-1]))
    return made


def lines_of(found: Read) -> Lines:
    """The lines that nothing certifies."""
    lines: Lines = {}
    for entry in found.ledger.residue:
        side = "new" if entry.side is Side.NEW else "old"
        lines.setdefault((side, entry.path), set()).update(range(entry.line, entry.line + entry.lines))
    return lines


def changed_lines(change: TreeChange) -> Lines:
    """All, whether certified or not."""
    from codemods.verify.change import hunks_of

    lines: Lines = {}
    for each in change.changes:
        for hunk in hunks_of(change, each):
            for side, start, end in (("old", hunk.old_start, hunk.old_end), ("new", hunk.new_start, hunk.new_end)):
                if end > start:
                    lines.setdefault((side, each.path), set()).update(range(start + 1, end + 1))
    for one in change.opaque:
        lines["new", one.path] = set(range(1, one.old_lines + one.new_lines + 1))
    return lines


def change_with(
    label: str, change: TreeChange, residue: Mapping[str, Collection[int]] | None, problems: Iterable[Problem],
    origin: str, names: tuple[str, str], lines: Lines, renamed: Sequence[Renamed] = (),
) -> Change:  # fmt: skip
    """lines: those that pairs ought to run. renamed: attributes that are what others were."""
    from codemods.prove.pairs import pairs_of_change

    changed = tuple(sorted(changed_paths(change)))
    found = reader_results(problems)
    try:
        pairs = pairs_of_change(change.old, change.new, changed, residue, renamed)
    except UnmovedError as error:
        pairs, found = [], [*found, _unreadable(error)]
    return Change(
        label=label,
        old=change.old,
        new=change.new,
        changed=changed,
        pairs=tuple(replace(pair, origin=origin) for pair in pairs),
        found=tuple(found),
        unproved=tuple(_unproved(label, change, changed, pairs, lines)),
        old_name=names[0],
        new_name=names[1],
    )


def reader_results(problems: Iterable[Problem]) -> list[PairResult]:
    """Readers of what is gone, one result a file: found by reading, so no run has to show them."""
    by_path: dict[str, list[Delta]] = {}
    for each in sorted(problems):
        delta = Delta(code=each.code, path=each.path, line=each.line, message=each.message)
        by_path.setdefault(each.path, []).append(delta)
    return [
        PairResult(
            old=path, new=path, kind=PairKind.READER, verdict=ProofVerdict.DIFFERS, deltas=tuple(deltas),
            origin="ledger",
        )
        for path, deltas in by_path.items()
    ]  # fmt: skip


def _unreadable(error: UnmovedError) -> PairResult:
    return PairResult(
        old=error.path, new=error.path, kind=PairKind.IMPORT, verdict=ProofVerdict.INCONCLUSIVE, reason=str(error)
    )


def _unproved(
    label: str, change: TreeChange, changed: Collection[str], pairs: Sequence[Pair], lines: Lines
) -> Iterator[Unproved]:
    from codemods.prove.pairs_covered import uncovered

    found: dict[str, dict[str, list[int]]] = {}
    for (side, path), numbers in (uncovered(change.old, change.new, changed, pairs, lines) if lines else {}).items():
        found.setdefault(path, {})[side] = numbers
    for path, sides in sorted(found.items()):
        at = spans(sides.get("new", ()))
        if "old" in sides:
            at = f"{at} (old {spans(sides['old'])})" if at else f"old {spans(sides['old'])}"
        at = at if path.endswith(".py") else ""
        yield Unproved(path=path, lines=sum(map(len, sides.values())), change=label, at=at)


def spans(numbers: Sequence[int]) -> str:
    """`3-5, 9`."""
    found: list[list[int]] = []
    for each in numbers:
        if found and each == found[-1][-1] + 1:
            found[-1][-1] = each
        else:
            found.append([each, each])
    return ", ".join(f"{first}-{last}" if last > first else str(first) for first, last in found)


def merged(
    label: str, changes: Sequence[TreeChange], names: tuple[str, str], *, takes_all: bool,
    known: Sequence[Read] | None = None,
) -> Change:  # fmt: skip
    """Against the first parent, but only for what is new against every parent: the rest is the branches' own."""
    every = list(known) if known is not None else [read(change) for change in changes]
    found = [_lines_of(change) if takes_all else residue_of(each) for change, each in zip(changes, every, strict=True)]
    common: Residue = {}
    for key, lines in found[0].items():
        others = [each.get(key, set()) for each in found[1:]]
        # Lines of the old sides are those of different files, so a file counts there as a whole.
        kept = lines.intersection(*others) if not key.startswith(OLD) else lines if all(others) else set()
        if kept:
            common[key] = kept
    left = sorted({problem for each in every for problem in each.left})
    exact = [
        changed_lines(change) if takes_all else lines_of(each) for change, each in zip(changes, every, strict=True)
    ]
    left_over = {
        (side, path): numbers & common.get(path if side == "new" else f"{OLD}{path}", set())
        for (side, path), numbers in exact[0].items()
    }
    origin = "all" if takes_all else "ledger"
    return change_with(label, changes[0], common, left, origin, names, left_over, renamed_of(every[0]))


def _lines_of(change: TreeChange) -> Residue:
    found: Residue = {}
    for each in change.changes:
        for key, raw in ((each.path, each.after), (f"{OLD}{each.path}", each.before)):
            if raw is not None:
                found[key] = set(range(1, raw.count(b"\n") + 2))
    return found


def stepped(steps: Sequence[PlannedStep], path: Path) -> list[Change]:
    """Each step of a plan that changes something. path: the plan."""
    found = []
    for step in steps:
        changes = step.after.changes_since(step.before)
        if changes:
            made = TreeChange(old=step.before, new=step.after, changes=changes)
            number = step.result.number
            label = f"step {number}: {step.result.do} {step.result.target}" if len(steps) > 1 else ""
            names = (f"{PLAN}{path}@{number - 1}", f"{PLAN}{path}@{number}")
            found.append(change_with(label, made, None, readers_left(made), "plan", names, {}))
    return found


def readers_left(change: TreeChange) -> Sequence[Problem]:
    """Readers of what is gone, whoever made the change."""
    from codemods.verify.readers import left_behind

    return left_behind(change)
