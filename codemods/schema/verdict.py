"""What verifying a commit comes to: entries of the ledger, residue, operations, findings. Data only; certificates,
reports and exit codes are made above."""

from __future__ import annotations

from enum import Enum

from msgspec import Struct

from codemods.schema.result import FileChange


class Verdict(Enum):
    """mechanical: every changed line is explained. mixed: some are. other: none is, or nothing can be read."""

    MECHANICAL = "mechanical"
    MIXED = "mixed"
    OTHER = "other"


class Mark(Struct, frozen=True):
    """What explains one line of one side: the operation's kind; with a `reason` the line is residue instead.

    code: the hazard that stands in the way, "" when there is none. function: qualname around the line, "" at module
    level."""

    kind: str
    reason: str = ""
    code: str = ""
    function: str = ""


class Problem(Struct, frozen=True, order=True):
    """Something found beyond the residue: a reader left behind, a call that no longer fits, an effect that changed.

    path and line are of the new tree; `code` is a U-code or a kebab-case word."""

    path: str
    line: int
    code: str
    message: str


class Explained(Struct, kw_only=True):
    """What is known of a change: path -> 1-based line -> mark, one table for each side. Lines without a mark are not
    explained, unless they are blank or comments."""

    old: dict[str, dict[int, Mark]] = {}
    new: dict[str, dict[int, Mark]] = {}
    problems: list[Problem] = []
    claims: list[str] = []  # the operations that were assumed, in the kernel's own notation, for the certificate


class Side(Enum):
    """Which tree a line stands in: `old` lines were removed, `new` lines were added."""

    OLD = "old"
    NEW = "new"


class Entry(Struct, frozen=True, kw_only=True):
    """A run of changed lines of one side with one explanation. line: 1-based, of that side's file."""

    path: str
    side: Side
    line: int
    lines: int
    mark: Mark


class Ledger(Struct, frozen=True, kw_only=True):
    """Every changed line exactly once. lines = certified + the lines of the residue = removed + added lines."""

    changes: tuple[FileChange, ...]
    entries: tuple[Entry, ...]
    problems: tuple[Problem, ...]
    claims: tuple[str, ...] = ()

    @property
    def lines(self) -> int:
        return sum(entry.lines for entry in self.entries)

    @property
    def residue(self) -> tuple[Entry, ...]:
        return tuple(entry for entry in self.entries if entry.mark.reason)

    @property
    def certified(self) -> int:
        return sum(entry.lines for entry in self.entries if not entry.mark.reason)

    @property
    def verdict(self) -> Verdict:
        if not self.residue:
            # Lines that did not change and do something else now: no changed line is left to take the blame.
            is_other = any(each.code == "differs" for each in self.problems)
            return Verdict.MIXED if is_other else Verdict.MECHANICAL
        return Verdict.MIXED if self.certified else Verdict.OTHER
