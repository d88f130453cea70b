"""What mutants are tried on: the soundness cases and the kernel tests' pairs, read once and asked again and again.

The claims are worked out beforehand, and the readers that are left behind are not asked: where they would say no, too,
the kernel has to say it alone."""

from __future__ import annotations

import hashlib
import sys
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from textwrap import dedent
from types import FrameType
from typing import Any

from codemods.schema.verdict import Verdict
from codemods.source.files import FileSet, MemoryTree
from codemods.verify.change import TreeChange, between
from codemods.verify.explain import check, readable_paths
from codemods.verify.infer import infer
from codemods.verify.ledger import account
from codemods.verify.levels import Levels
from codemods.verify.names import Names
from tests.power.mutants import MODULES, file_of
from tests.support.field_cases import contents
from tests.support.soundness import load_cases
from tests.verify.test_kernel import DIFFERENT, SAME, function
from tests.verify.test_kernel_handed import HANDED, NOT_HANDED
from tests.verify.test_kernel_modules import DIFFERENT_JUDGED, SAME_JUDGED
from tests.verify.test_kernel_more import DIFFERENT_MODULES, SAME_MODULES, module_change
from tests.verify.test_kernel_parts import DIFFERENT_PARTS, SAME_PARTS


@dataclass(eq=False)
class Subject:
    """Two trees. is_same: what has to be said of them. objections: how much the kernel has against them; the fewer, the
    more does each count. places: lines of the kernel's modules, (module, line), that run for them."""

    name: str
    is_same: bool
    objections: Callable[[], int]
    weight: int = 0
    places: frozenset[tuple[str, int]] = field(default_factory=frozenset)


def subjects() -> list[Subject]:
    """Those that are judged rightly now, as they should be: of the others nothing can be learned."""
    found = []
    for subject in (*_cases(), *_modules(), *_pairs()):
        subject.weight = subject.objections()
        if (subject.weight == 0) is subject.is_same:
            found.append(subject)
    return found


def _cases() -> Iterator[Subject]:
    for case in load_cases():
        trees = [FileSet(MemoryTree(contents(case.folder / side))) for side in ("before", "after")]
        change = between(*trees)
        if not change.problems:
            yield Subject(case.id, case.verdict == "mechanical", _of_case(change))


def _of_case(change: TreeChange) -> Callable[[], int]:
    old, new = Names(change.old), Names(change.new)
    claims = infer(change, old, new, readable_paths(change, old, new))

    def objections() -> int:
        ledger = account(change, check(change, claims, old, new))
        count = len(ledger.residue) + len(ledger.problems)
        return count or int(ledger.verdict is not Verdict.MECHANICAL)

    return objections


def _modules() -> Iterator[Subject]:
    same, different = SAME_MODULES + SAME_JUDGED + NOT_HANDED, DIFFERENT_MODULES + DIFFERENT_JUDGED + HANDED
    for pairs, is_same in ((same, True), (different, False)):
        for before, after in pairs:
            edit = module_change(before, after)
            if not edit.problems:
                yield Subject(f"modules-{_digest(before, after)}", is_same, _of_case(edit))


def _digest(before: object, after: object) -> str:
    return hashlib.sha256(f"{before}\0{after}".encode()).hexdigest()[:8]


def _pairs() -> Iterator[Subject]:
    for pairs, is_same in ((SAME + SAME_PARTS, True), (DIFFERENT + DIFFERENT_PARTS, False)):
        for pair in pairs:
            for before, after in (pair, pair[::-1]):
                yield Subject(f"pair-{_digest(before, after)}", is_same, _of_pair(function(before), function(after)))


def _of_pair(before: str, after: str) -> Callable[[], int]:
    trees = [FileSet(MemoryTree({"m.py": dedent(text).encode()})) for text in (before, after)]
    change = between(*trees)
    old, new = Names(change.old), Names(change.new)
    claims = infer(change, old, new, ["m.py"])

    def objections() -> int:
        levels = Levels(change, claims, old, new)
        levels.run()
        return sum(bool(line.reason) for line in levels.kernel.lines)

    return objections


Trace = Callable[[FrameType, str, object], Any]
_FILES = {file_of(module): module for module in MODULES}


def traced(subject: Subject) -> frozenset[tuple[str, int]]:
    """The lines of the kernel's modules that run for the subject."""
    found: set[tuple[str, int]] = set()

    def enter(frame: FrameType, event: str, given: object) -> Trace | None:
        del event, given
        module = _FILES.get(frame.f_code.co_filename)
        if module is None:
            return None

        def at(inner: FrameType, kind: str, given: object) -> Trace:
            del given
            if kind == "line":
                found.add((module, inner.f_lineno))
            return at

        return at

    before = sys.gettrace()
    sys.settrace(enter)
    try:
        subject.objections()
    finally:
        sys.settrace(before)
    return frozenset(found)
