"""Which changed lines only a formatter changed: those of statements that stand at the same place on both sides and have
the same syntax tree. Line ends, a byte order mark and a final line end are part of no tree. Sound, not complete: what
is not certified here may be explained by somebody else."""

from __future__ import annotations

import ast
from bisect import bisect_left
from collections.abc import Iterable, Iterator, Sequence

from codemods.verify.line_diff import Hunk, changed_lines
from codemods.verify.python_lines import BODIES, Lines, first_line

_SPACE = b" \t\x0c"
_BOM = b"\xef\xbb\xbf"


def line_end_changes(old: Lines, new: Lines, hunks: Sequence[Hunk]) -> tuple[set[int], set[int]]:
    """Changed lines (old, new) that differ from their counterpart in nothing but their end, or by a byte order mark.

    Python reads every line end as a line feed, in strings too."""
    found: tuple[set[int], set[int]] = (set(), set())
    raws = (old.raw, new.raw)
    if not any(b"\r" in raw or raw.startswith(_BOM) or (raw and not raw.endswith(b"\n")) for raw in raws):
        return found
    left, right = [_plain(lines) for lines in (old.lines, new.lines)]
    # Counterparts are sought inside each hunk: across hunks they would cross lines that have one already.
    for hunk in hunks:
        old_at, new_at = hunk.old_start, hunk.new_start
        inner = changed_lines(left[old_at : hunk.old_end], right[new_at : hunk.new_end])
        old_gone = {at for one in inner for at in range(one.old_start, one.old_end)}
        new_gone = {at for one in inner for at in range(one.new_start, one.new_end)}
        found[0].update(old_at + at + 1 for at in range(hunk.old_end - old_at) if at not in old_gone)
        found[1].update(new_at + at + 1 for at in range(hunk.new_end - new_at) if at not in new_gone)
    return found


def _plain(lines: Sequence[bytes]) -> list[bytes]:
    plain = [line.removesuffix(b"\n").removesuffix(b"\r") for line in lines]
    if plain:
        plain[0] = plain[0].removeprefix(_BOM)
    return plain


def format_changes(old: Lines, new: Lines, hunks: Sequence[Hunk]) -> tuple[set[int], set[int]]:
    """Changed lines (old, new) of statements whose tree is the same on both sides."""
    found: tuple[set[int], set[int]] = (set(), set())
    if old.tree is None or new.tree is None:
        return found
    touched = (
        _Touched((hunk.old_start + 1, hunk.old_end) for hunk in hunks),
        _Touched((hunk.new_start + 1, hunk.new_end) for hunk in hunks),
    )
    waiting: list[tuple[Sequence[ast.AST], Sequence[ast.AST]]] = [(old.tree.body, new.tree.body)]
    while waiting:
        left, right = waiting.pop()
        for one, other in _pairs(left, right, touched):
            if type(one) is not type(other) or not _stands_alone(old, one) or not _stands_alone(new, other):
                continue
            if same_tree(one, other):
                for side, node in enumerate((one, other)):
                    first, last = _extent(node)
                    found[side].update(range(first, last + 1))
            else:
                for name in BODIES:
                    parts = getattr(one, name, None), getattr(other, name, None)
                    if isinstance(parts[0], list) and isinstance(parts[1], list):
                        waiting.append((parts[0], parts[1]))
    return found


class _Touched:
    """Whether a range of lines has a changed one in it."""

    def __init__(self, ranges: Iterable[tuple[int, int]]) -> None:
        self._lines = sorted({line for first, last in ranges for line in range(first, last + 1)})

    def __call__(self, node: ast.AST) -> bool:
        first, last = _extent(node)
        at = bisect_left(self._lines, first)
        return at < len(self._lines) and self._lines[at] <= last


def _pairs(
    left: Sequence[ast.AST], right: Sequence[ast.AST], touched: tuple[_Touched, _Touched]
) -> Iterator[tuple[ast.AST, ast.AST]]:
    """The n-th touched statement of each run on one side with the n-th of the same run on the other. Runs end at
    statements that nothing touched: those are the same text on both sides, in the same order."""
    runs, other_runs = list(_runs(left, touched[0])), list(_runs(right, touched[1]))
    if len(runs) != len(other_runs):
        return  # text that nothing touched is code on one side alone: a string began, or ended, around it
    for run, other_run in zip(runs, other_runs, strict=True):
        if len(run) == len(other_run):
            yield from zip(run, other_run, strict=True)


def _runs(nodes: Sequence[ast.AST], touched: _Touched) -> Iterator[Sequence[ast.AST]]:
    """The touched statements before the first untouched one, between it and the second, and so on."""
    run: list[ast.AST] = []
    for node in nodes:
        if touched(node):
            run.append(node)
        else:
            yield run
            run = []
    yield run


def _stands_alone(lines: Lines, node: ast.AST) -> bool:
    """Whether nothing else is on the lines of a statement: no header of the block it is in, no other statement."""
    first, last = _extent(node)
    assert lines.text is not None
    if isinstance(node, ast.match_case):
        # Its own column is not known; a pattern on the line of the `match` before it is no Python.
        ending: ast.stmt | ast.excepthandler = node.body[-1]
        begins = True
    else:
        assert isinstance(node, ast.stmt | ast.excepthandler)
        ending = node
        is_decorated = first < node.lineno
        begins = is_decorated or not lines.text.line_text(first)[: node.col_offset].strip(_SPACE)
    after = lines.text.line_text(last)[ending.end_col_offset or 0 :].strip(_SPACE)
    return begins and (not after or after.startswith(b"#"))


def _extent(node: ast.AST) -> tuple[int, int]:
    if isinstance(node, ast.match_case):
        return node.pattern.lineno, node.body[-1].end_lineno or node.pattern.lineno
    assert isinstance(node, ast.stmt | ast.excepthandler)
    last = node.end_lineno or node.lineno
    return (first_line(node) if isinstance(node, ast.stmt) else node.lineno), last


def same_tree(one: ast.AST, other: ast.AST) -> bool:
    """Whether two trees mean the same program text. Without recursion: trees can be deeper than the stack."""
    waiting = [(one, other)]
    while waiting:
        left, right = waiting.pop()
        if type(left) is not type(right):
            return False
        if isinstance(left, ast.Constant) and isinstance(right, ast.Constant):
            # 1 == 1.0 == True and 0.0 == -0.0, but not here; nan is itself.
            if type(left.value) is not type(right.value) or repr(left.value) != repr(right.value):
                return False
            continue
        for name in left._fields:
            first, second = getattr(left, name, None), getattr(right, name, None)
            if isinstance(first, ast.AST) and isinstance(second, ast.AST):
                waiting.append((first, second))
            elif isinstance(first, list) and isinstance(second, list):
                if len(first) != len(second):
                    return False
                for item, twin in zip(first, second, strict=True):
                    if isinstance(item, ast.AST) and isinstance(twin, ast.AST):
                        waiting.append((item, twin))
                    elif item is not twin and item != twin:
                        return False
            elif first != second:
                return False
    return True
