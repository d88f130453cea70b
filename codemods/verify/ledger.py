"""The ledger of a change: every changed line exactly once, with what explains it or why nothing does.

What explain() marked stands. The rest is certified only where it can't mean anything: blank lines, comments, what a
formatter changed, documents. All else is residue. Whether a mark is right is the kernel's to say."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence

from codemods.schema.result import FileChange
from codemods.schema.verdict import Entry, Explained, Ledger, Mark, Problem, Side
from codemods.source.index import PYTHON_SUFFIXES
from codemods.verify.change import TreeChange, hunks_of
from codemods.verify.format_lines import format_changes, line_end_changes
from codemods.verify.limits import MAX_FINDINGS_OF_A_CODE
from codemods.verify.line_diff import Hunk, split_lines
from codemods.verify.python_lines import Lines

UNEXPLAINED = "nothing explains it"
DOCUMENT_SUFFIXES = (".md", ".rst")
_FORMAT, _LINE_END = Mark("format"), Mark("layout")
# Characters that make a line look other than it is: embeddings, overrides and isolates of right-to-left text.
_BIDI = re.compile(rb"\xe2\x80[\xaa-\xae]|\xe2\x81[\xa6-\xa9]")

_Marks = Mapping[int, Mark]


def account(change: TreeChange, explained: Explained) -> Ledger:
    """The sum of the entries' lines is the number of changed lines, whatever `explained` says."""
    entries: list[Entry] = []
    problems: list[Problem] = [*change.problems, *explained.problems]
    for file in change.changes:
        found = _File(change, file)
        marks = explained.old.get(file.path, {}), explained.new.get(file.path, {})
        entries += found.entries(marks)
        problems += found.problems()
    for opaque in change.opaque:
        mark = Mark("", reason=f"is {opaque.what}")
        for side, lines in ((Side.OLD, opaque.old_lines), (Side.NEW, opaque.new_lines)):
            if lines:
                entries.append(Entry(path=opaque.path, side=side, line=1, lines=lines, mark=mark))
    entries.sort(key=lambda entry: (entry.path, entry.line, entry.side is Side.NEW))
    return Ledger(
        changes=change.changes,
        entries=tuple(entries),
        problems=tuple(_ranked(problems)),
        claims=tuple(explained.claims),
    )


class _File:
    """The changed lines of one file."""

    def __init__(self, change: TreeChange, file: FileChange) -> None:
        self._change, self._file = change, file
        self._is_python = file.path.endswith(PYTHON_SUFFIXES)
        self._hunks: Sequence[Hunk] = hunks_of(change, file)
        self._new_lines = split_lines(file.after or b"")
        self._numbers = (
            [at for hunk in self._hunks for at in range(hunk.old_start + 1, hunk.old_end + 1)],
            [at for hunk in self._hunks for at in range(hunk.new_start + 1, hunk.new_end + 1)],
        )

    def entries(self, marks: tuple[_Marks, _Marks]) -> Iterator[Entry]:
        """One for each run of lines with one mark."""
        if self._is_python:
            sides: tuple[_Marks, _Marks] = self._python(marks)
        else:
            is_document = self._file.path.endswith(DOCUMENT_SUFFIXES)
            rest = Mark("documentation") if is_document else Mark("", reason="not Python")
            sides = self._rest(marks, rest)
        for side, numbers, known in zip((Side.OLD, Side.NEW), self._numbers, sides, strict=True):
            yield from _merged(self._file.path, side, numbers, known)

    def _has_all(self, marks: tuple[_Marks, _Marks]) -> bool:
        return all(number in known for numbers, known in zip(self._numbers, marks, strict=True) for number in numbers)

    def _rest(self, marks: tuple[_Marks, _Marks], rest: Mark) -> tuple[_Marks, _Marks]:
        old, new = (
            {number: known.get(number, rest) for number in numbers}
            for numbers, known in zip(self._numbers, marks, strict=True)
        )
        return old, new

    def _python(self, marks: tuple[_Marks, _Marks]) -> tuple[_Marks, _Marks]:
        file = self._file
        old = Lines(self._change.old, file.path, file.before)
        new = Lines(self._change.new, file.path, file.after)
        both = file.before is not None and file.after is not None and not old.why and not new.why
        same_encoding = old.encoding == new.encoding
        ends: tuple[set[int], set[int]] = (set(), set())
        formatted: tuple[set[int], set[int]] = (set(), set())
        if both and same_encoding and not self._has_all(marks):
            ends, formatted = line_end_changes(old, new, self._hunks), format_changes(old, new, self._hunks)
        sides = []
        for side, lines in enumerate((old, new)):
            decided: dict[int, Mark] = {}
            for number in self._numbers[side]:
                mark = None if lines.why else marks[side].get(number)
                if mark is None:
                    is_cookie = number <= 2 and both and not same_encoding
                    mark = _own_mark(lines, number, ends[side], formatted[side], is_cookie=is_cookie)
                decided[number] = mark
            sides.append(decided)
        return sides[0], sides[1]

    def problems(self) -> Iterator[Problem]:
        """What is wrong with the text itself."""
        for number in self._numbers[1]:
            if _BIDI.search(self._new_lines[number - 1]):
                yield Problem(
                    self._file.path, number, "bidi-control",
                    "a right-to-left control character makes this line look other than it is",
                )  # fmt: skip
        if self._is_python:
            yield from self._encoding_problems()

    def _encoding_problems(self) -> Iterator[Problem]:
        """The bytes of both sides may be equal where what they mean is not."""
        heads = [b"\n".join((raw or b"").split(b"\n", 2)[:2]) for raw in (self._file.before, self._file.after)]
        if not any(b"coding" in head for head in heads):
            return
        old = Lines(self._change.old, self._file.path, self._file.before)
        new = Lines(self._change.new, self._file.path, self._file.after)
        came = new.encoding if self._file.before is None and new.encoding != "utf-8" else ""
        if old.encoding and new.encoding and old.encoding != new.encoding:
            yield Problem(
                self._file.path, 1, "encoding-change",
                f"the file was read as {old.encoding} and is read as {new.encoding} now",
            )  # fmt: skip
        elif came:
            yield Problem(self._file.path, 1, "encoding-change", f"the file is read as {came}, not as UTF-8")


def _own_mark(lines: Lines, number: int, ends: set[int], formatted: set[int], *, is_cookie: bool) -> Mark:
    """What the ledger itself says of a line without a mark."""
    if lines.why:
        return Mark("", reason=lines.why)
    if is_cookie:
        return Mark("", reason="the file's encoding changed")
    if number in ends:
        return _LINE_END
    silent = lines.silent(number)
    if silent:
        return Mark(silent)
    if number in formatted:
        return _FORMAT
    return Mark("", reason=UNEXPLAINED, function=lines.function(number))


def _merged(path: str, side: Side, numbers: Sequence[int], marks: _Marks) -> Iterator[Entry]:
    start = 0
    for at in range(1, len(numbers) + 1):
        is_end = at == len(numbers) or numbers[at] != numbers[at - 1] + 1
        if is_end or marks[numbers[at]] != marks[numbers[start]]:
            mark = marks[numbers[start]]
            yield Entry(path=path, side=side, line=numbers[start], lines=at - start, mark=mark)
            start = at


def _ranked(problems: Iterable[Problem]) -> Iterator[Problem]:
    """Sorted, each once; of one code the first MAX_FINDINGS_OF_A_CODE, and how many more there are."""
    counts: dict[str, int] = {}
    for problem in sorted(set(problems)):
        counts[problem.code] = counts.get(problem.code, 0) + 1
        if counts[problem.code] <= MAX_FINDINGS_OF_A_CODE:
            yield problem
    for code, count in sorted(counts.items()):
        if count > MAX_FINDINGS_OF_A_CODE:
            yield Problem("", 0, code, f"{count - MAX_FINDINGS_OF_A_CODE:,} more of this kind")
