"""What explains a change: infers what belongs together, has the kernel compare it, and collects the marks.

Definitions are compared one by one, the statements of a module or class body in their order. What neither is compared
nor has a rule of its own here keeps no mark and so becomes residue."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from msgspec.structs import replace

from codemods.schema.verdict import Explained, Mark, Problem
from codemods.source.index import expect
from codemods.verify.change import TreeChange, hunks_of
from codemods.verify.claims import spelled
from codemods.verify.duties import Duties
from codemods.verify.frames import Claims, Line
from codemods.verify.infer import infer
from codemods.verify.ledger import account
from codemods.verify.level_dead import DeadCode
from codemods.verify.levels import Levels
from codemods.verify.lifetimes import Lifetimes
from codemods.verify.line_diff import Hunk
from codemods.verify.names import Names, Unreadable
from codemods.verify.outside import Outside
from codemods.verify.patches import Patches
from codemods.verify.readers import gone_of, words_of
from codemods.verify.shown_shapes import Shapes
from codemods.verify.surroundings import Surroundings

Hunks = Mapping[str, Sequence[Hunk]]


# What a difference may bring about in lines that did not change.
_ENTAILED = ("differs", "no counterpart")


def explain(change: TreeChange) -> Explained:
    """Marks for the lines that were understood, residue for those that were compared and differ, problems beyond."""
    old, new = Names(change.old), Names(change.new)
    return check(change, infer(change, old, new, readable_paths(change, old, new)), old, new)


def readable_paths(change: TreeChange, old: Names, new: Names) -> list[str]:
    """The changed Python files that can be parsed on each side that has them."""
    return [each.path for each in change.changes if each.path.endswith(".py") and _is_readable(each.path, old, new)]


def check(change: TreeChange, claims: Claims, old: Names, new: Names) -> Explained:
    """The same without guessing: what holds when these claims are made."""
    words = claims.words()
    for names in (old, new):
        names.focus(claims.changed, words)
    levels = Levels(change, claims, old, new)
    levels.run()
    dead = DeadCode(change, claims, (old, new), levels.kernel)
    patches = Patches(change, claims, old, new, levels.kernel.canon[1].entered_definitions)
    duties = Duties(change, claims, old, new)
    duties.begin(levels.kernel.duties)
    _search(change, dead.words() | patches.words())
    dead.run()
    lines, problems = duties.discharged(levels.kernel.lines, levels.kernel.duties)
    explained = Explained(problems=[*levels.problems, *problems, *patches.problems()], claims=spelled(claims))
    hunks = {each.path: hunks_of(change, each) for each in change.changes}
    lines, strays = _sorted_out(lines, _changed_lines(hunks))
    for line in lines:
        _put(explained, line)
    explained.problems += _strays([line for line in strays if not _is_told(line, hunks, explained)])
    if not explained.problems and not account(change, explained).residue:
        explained.problems += _last_doubts(levels, change, claims, old, new)
    return explained


def _last_doubts(levels: Levels, change: TreeChange, claims: Claims, old: Names, new: Names) -> list[Problem]:
    """What else could make a difference where no line is left to doubt. Looks far and finds little, so it is not asked
    of a commit that somebody has to read anyway."""
    around, lives = Surroundings(change, claims, old, new), Lifetimes(change, claims, old, new)
    shapes, outside = Shapes(change, claims, old, new, levels.kernel.nested_pairs), Outside(change, claims, old, new)
    if words := around.words() | lives.words() | shapes.words() | outside.words():
        expect(change.new, sorted(words))
    return [*levels.imports.cycles(), *around.problems(), *lives.problems(), *shapes.problems(), *outside.problems()]


def _search(change: TreeChange, words: set[str]) -> None:
    """Looks for every word that is sure to be asked for, here and for the readers left behind, in one search."""
    expect(change.new, sorted(words | set(words_of(gone_of(change)))))


def _changed_lines(hunks: Hunks) -> dict[tuple[int, str], set[int]]:
    found: dict[tuple[int, str], set[int]] = {}
    for path, each in hunks.items():
        found[0, path] = {at + 1 for hunk in each for at in range(hunk.old_start, hunk.old_end)}
        found[1, path] = {at + 1 for hunk in each for at in range(hunk.new_start, hunk.new_end)}
    return found


def _is_told(line: Line, hunks: Hunks, explained: Explained) -> bool:
    """Whether the difference is that lines are missing in between, which are residue on the side that has them."""
    if line.reason != "differs":
        return False
    others = (explained.old if line.side else explained.new).get(line.path, {})
    for hunk in hunks.get(line.path, ()):
        old, new = range(hunk.old_start, hunk.old_end), range(hunk.new_start, hunk.new_end)
        here, there = (new, old) if line.side else (old, new)
        if (
            not here
            and line.first <= here.start < line.last
            and any((mark := others.get(at + 1)) is not None and mark.reason for at in there)
        ):
            return True
    return False


def _sorted_out(lines: list[Line], changed: dict[tuple[int, str], set[int]]) -> tuple[list[Line], list[Line]]:
    """The lines, and apart from them the differences in lines whose text did not change. A part of a statement is put
    down to the changed part of it; what only follows from a residue of the same function or file is not told."""
    kept, strays = [], []
    doubtful: set[tuple[str, str]] = set()
    for line in lines:
        numbers = changed.get((line.side, line.path), set())
        if line.reason and line.within and not _touches(line, numbers):
            blamed = [at for at in range(line.within, line.first) if at in numbers]
            line = replace(line, first=blamed[-1], last=blamed[-1]) if blamed else line
        if line.reason and not _touches(line, numbers):
            strays.append(line)
            continue
        kept.append(line)
        if line.reason:
            doubtful |= {(line.path, line.function), (line.path, "")}
    return kept, [
        each
        for each in strays
        if not (each.reason in _ENTAILED and (each.path, "") in doubtful)
        and not (each.code and each.function and (each.path, each.function) in doubtful)
    ]


def _touches(line: Line, numbers: set[int]) -> bool:
    return any(at in numbers for at in range(line.first, line.last + 1))


def _strays(lines: list[Line]) -> list[Problem]:
    """Differences in lines whose text did not change: they mean something else, or run where they did not. One for
    each function, code and side: what one difference entails is no news."""
    found: dict[tuple[object, ...], list[Line]] = {}
    for line in sorted(lines, key=lambda each: each.first):
        found.setdefault((line.side, line.path, line.code, line.function or line.first), []).append(line)
    return [_stray(group[0], len({each.first for each in group}) - 1) for group in found.values()]


def _stray(line: Line, others: int) -> Problem:
    where = "" if line.side else " (line of the old file)"
    what = "has no counterpart now" if line.reason == "no counterpart" else line.reason
    more = f"; so it is with {others} more line{'s'[: others > 1]} of {line.function}" if others else ""
    return Problem(line.path, line.first, line.code or "differs", f"the same text as before, and {what}{where}{more}")


def _is_readable(path: str, old: Names, new: Names) -> bool:
    try:
        for names in (old, new):
            if path in names.files:
                # What is asked for soon, when the tree may have been let go again.
                names.kinds(path), names.digests(path), names.taken(path)
    except Unreadable:
        return False
    return True


def _put(explained: Explained, line: Line) -> None:
    """Residue stands whatever else is said; else the last word counts."""
    marks = (explained.new if line.side else explained.old).setdefault(line.path, {})
    mark = Mark(line.kind, line.reason, line.code, line.function)
    for number in range(line.first, line.last + 1):
        known = marks.get(number)
        if known is None or not known.reason:
            marks[number] = mark
