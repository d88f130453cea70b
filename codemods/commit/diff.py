"""Changes as a unified diff that people read and `git apply` takes. Decides only how a difference is written down.

The text holds each byte of the files: what is not UTF-8 is there as surrogates (`surrogateescape`), line ends as they
are. Write it with `.encode("utf-8", "surrogateescape")`, never through a stream that translates line ends."""

from __future__ import annotations

import bisect
import difflib
import os
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence

from codemods.schema.result import FileChange

_CONTEXT = 3
_BIG = 400
_ESCAPES = {"\a": "a", "\b": "b", "\t": "t", "\n": "n", "\v": "v", "\f": "f", "\r": "r", '"': '"', "\\": "\\"}
_Block = tuple[int, int, int, int]


def unified(changes: Sequence[FileChange]) -> str:
    """One diff for all changes, in their order; "" when none of them changes a byte.

    A change does not know its mode: new and removed files are written as 100644."""
    return "".join(part for change in changes if change.before != change.after for part in _file(change))


def _file(change: FileChange) -> Iterator[str]:
    old, new = _name("a/", change.path), _name("b/", change.path)
    yield f"diff --git {old} {new}\n"
    if change.before is None:
        yield "new file mode 100644\n"
    if change.after is None:
        yield "deleted file mode 100644\n"
    before, after = _lines(change.before or b""), _lines(change.after or b"")
    if before or after:
        # A tab ends a name that has a space in it; without one, readers take what follows for a date.
        end = "\t\n" if " " in change.path else "\n"
        yield "--- /dev/null\n" if change.before is None else f"--- {old}{end}"
        yield "+++ /dev/null\n" if change.after is None else f"+++ {new}{end}"
    for hunk in _hunks(_differences(before, after)):
        yield from _hunk(hunk, before, after)


def _name(side: str, path: str) -> str:
    """As git quotes it: only a name with a quote, a backslash or a control character is put into quotes."""
    name = os.fsencode(path).decode("utf-8", "surrogateescape")
    escaped = "".join(
        f"\\{_ESCAPES[char]}" if char in _ESCAPES else f"\\{ord(char):03o}" if char < " " or char == "\x7f" else char
        for char in name
    )
    return f"{side}{name}" if escaped == name else f'"{side}{escaped}"'


def _lines(raw: bytes) -> list[bytes]:
    """Split after each line feed and nowhere else: form feeds and lone carriage returns belong to their line."""
    lines = raw.split(b"\n")
    ended = [line + b"\n" for line in lines[:-1]]
    return [*ended, lines[-1]] if lines[-1] else ended


def _differences(before: list[bytes], after: list[bytes]) -> list[_Block]:
    """(start, end) before and (start, end) after of each run of lines that differs, in order."""
    found: list[_Block] = []
    waiting = [(0, len(before), 0, len(after))]
    while waiting:
        old_start, old_end, new_start, new_end = waiting.pop()
        old, new = before[old_start:old_end], after[new_start:new_end]
        low = _num_common(old, new)
        high = _num_common(reversed(old[low:]), reversed(new[low:]))
        old, new = old[low : len(old) - high], new[low : len(new) - high]
        old_start, new_start = old_start + low, new_start + low
        if not old and not new:
            continue
        anchors = _anchors(old, new)
        if anchors:
            ends = [(len(old), len(new)), *((one, other) for one, other in reversed(anchors))]
            starts = [*((one + 1, other + 1) for one, other in reversed(anchors)), (0, 0)]
            waiting += [
                (old_start + start[0], old_start + end[0], new_start + start[1], new_start + end[1])
                for start, end in zip(starts, ends, strict=True)
            ]
            continue
        # Without a line that is unique on both sides what is left is short, or one big repetition; only there does the
        # matcher's shortcut for lines that occur all the time give worse diffs, and without it the time is quadratic.
        matcher = difflib.SequenceMatcher(None, old, new, autojunk=len(old) > _BIG or len(new) > _BIG)
        found += [
            (old_start + one, old_start + one_end, new_start + other, new_start + other_end)
            for tag, one, one_end, other, other_end in matcher.get_opcodes()
            if tag != "equal"
        ]
    return _joined(found)


def _anchors(old: Sequence[bytes], new: Sequence[bytes]) -> list[tuple[int, int]]:
    """Pairs of places of lines that occur once on each side, the longest run of them that keeps its order."""
    in_old, in_new = Counter(old), Counter(new)
    place = {line: index for index, line in enumerate(new) if in_new[line] == 1}
    pairs = [(index, place[line]) for index, line in enumerate(old) if in_old[line] == 1 and line in place]
    # Patience sorting: the last pair of each pile, and for each pair the one below it on the pile before.
    tops: list[int] = []
    top_pairs: list[int] = []
    below: list[int] = []
    for number, (_, other) in enumerate(pairs):
        pile = bisect.bisect_left(tops, other)
        below.append(top_pairs[pile - 1] if pile else -1)
        tops[pile : pile + 1] = [other]
        top_pairs[pile : pile + 1] = [number]
    chosen: list[tuple[int, int]] = []
    number = top_pairs[-1] if top_pairs else -1
    while number >= 0:
        chosen.append(pairs[number])
        number = below[number]
    return chosen[::-1]


def _joined(blocks: Iterable[_Block]) -> list[_Block]:
    """Blocks that touch on both sides are one."""
    joined: list[_Block] = []
    for block in blocks:
        if joined and joined[-1][1] == block[0] and joined[-1][3] == block[2]:
            joined[-1] = (joined[-1][0], block[1], joined[-1][2], block[3])
        else:
            joined.append(block)
    return joined


def _num_common(left: Iterable[bytes], right: Iterable[bytes]) -> int:
    count = 0
    for one, other in zip(left, right, strict=False):
        if one != other:
            break
        count += 1
    return count


def _hunks(blocks: Iterable[_Block]) -> list[list[_Block]]:
    """Blocks whose context would touch go into one hunk."""
    hunks: list[list[_Block]] = []
    for block in blocks:
        if hunks and block[0] - hunks[-1][-1][1] <= 2 * _CONTEXT:
            hunks[-1].append(block)
        else:
            hunks.append([block])
    return hunks


def _hunk(blocks: Sequence[_Block], before: Sequence[bytes], after: Sequence[bytes]) -> Iterator[str]:
    first, last = blocks[0], blocks[-1]
    lead = min(_CONTEXT, first[0])
    tail = min(_CONTEXT, len(before) - last[1])
    old_range = _range(first[0] - lead, last[1] + tail)
    new_range = _range(first[2] - lead, last[3] + tail)
    yield f"@@ -{old_range} +{new_range} @@\n"
    at = first[0] - lead
    for old_start, old_end, new_start, new_end in blocks:
        yield from _marked(" ", before[at:old_start])
        yield from _marked("-", before[old_start:old_end])
        yield from _marked("+", after[new_start:new_end])
        at = old_end
    yield from _marked(" ", before[at : last[1] + tail])


def _range(start: int, end: int) -> str:
    """Lines count from 1; an empty range names the line before it."""
    count = end - start
    if count == 1:
        return str(start + 1)
    return f"{start + 1 if count else start},{count}"


def _marked(mark: str, lines: Iterable[bytes]) -> Iterator[str]:
    for line in lines:
        yield mark + line.decode("utf-8", "surrogateescape")
        if not line.endswith(b"\n"):
            yield "\n\\ No newline at end of file\n"
