"""The regression pairs: trees before, after (with the slip) and fixed (without), and what to name. Runs no prover.

A folder holds `before/`, `after/`, `fixed/` and at times `both/`. A side is `both/` with its own files laid over it, so
`fixed/` may mend a file of `both/`. `case.toml` says what went wrong; `where.toml` which place and delta a good tool
names, and what has to run to show it. B folders were given, X folders are ours: the same kinds, another shape."""

from __future__ import annotations

import functools
import json
import subprocess
import sys
import tempfile
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Literal

import msgspec
from msgspec import Struct

from codemods.schema.prove import Delta
from codemods.source.files import FileSet, MemoryTree
from tests.support.field_cases import contents

ROOT = Path(__file__).parents[1] / "cases" / "regressions"
Side = Literal["before", "after", "fixed"]
SIDES: tuple[Side, ...] = ("before", "after", "fixed")
_DRIVER = Path(__file__).parents[1] / "support" / "run_probes.py"
_ALL_PROBES_SECONDS = 120
# What `where.toml: declared` says in words: what such a delta speaks of.
DECLARED = {
    "B01": ("dp_size",),
    "B18": ("warm",),
    "B19": ("m.TABLE", "m.rotate_fast is"),
    "B21": ("m.act is",),
    "B68": ("m.FILES", "m.FILTER"),
    "B74": ("m.get_rank is",),
    "X01": ("step",),
    "X16": ("m.fast_sort is",),
    "X17": ("kern.quick is",),
    "X30": ("build.SOURCES",),
}


class Place(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """One line that may be named. slip: where the fault is; shows: where a run first does something else.

    `text` is the line without its margin, so that an edit of a tree can't leave the number behind."""

    side: Literal["before", "after", "both"]
    path: str
    line: int
    text: str
    role: Literal["slip", "shows"] = "slip"


class Where(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """where.toml. A tool must name at least one of the places, with one of the deltas or of the readers' codes.

    deltas: D-codes, the likeliest first. readers: U-codes that say the same without a run; some checks don't exist yet.
    pairs: old and new callable (`module:Qual.name`) or module (`module`) that show it. execute: how. fixed: what was
    mended. declared: what the refactoring changes on purpose, in `fixed/` too; a plan or a spec would declare it."""

    deltas: tuple[str, ...]
    readers: tuple[str, ...]
    pairs: tuple[tuple[str, str], ...]
    execute: str
    fixed: str
    declared: tuple[str, ...]
    places: tuple[Place, ...]

    def names(self, path: str, line: int) -> bool:
        """Whether a finding at this place names the right one."""
        return any((place.path, place.line) == (path, line) for place in self.places)


class Case(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """case.toml. report and seen_in are empty where the pair is ours."""

    id: str
    kind: str
    fault: str
    operation: str
    right: str
    seen_in: str = ""
    report: str = ""

    @property
    def folder(self) -> Path:
        return ROOT / self.id

    @property
    def where(self) -> Where:
        return msgspec.toml.decode((self.folder / "where.toml").read_bytes(), type=Where)

    def tree(self, side: Side) -> dict[str, bytes]:
        """Every file of one side."""
        return contents(self.folder / "both") | contents(self.folder / side)

    def files(self, side: Side) -> FileSet:
        """The same, as `unmoved` takes it."""
        return FileSet(MemoryTree(self.tree(side)))


@functools.cache
def load_cases() -> tuple[Case, ...]:
    """Every case, by name."""
    paths = sorted(ROOT.glob("*/case.toml"))
    cases = tuple(msgspec.toml.decode(path.read_bytes(), type=Case) for path in paths)
    assert [case.id for case in cases] == [path.parent.name for path in paths]
    return cases


def is_meant(delta: Delta, declared: tuple[str, ...]) -> bool:
    """Whether a delta is one of those that are declared."""
    said = " ".join([delta.message, *delta.world])
    return any(name in said for name in declared)


def write_tree(tree: Mapping[str, bytes], into: Path) -> Path:
    """The files of a side, on disk."""
    for path, raw in tree.items():
        file = into / path
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_bytes(raw)
    return into


@functools.cache
def printed() -> dict[tuple[str, Side], str]:
    """What the case's probe prints beside each side. Starts with `exit` where it ended in an error."""
    sides = [(case, side) for case in load_cases() for side in SIDES]
    return run_all((case, side, (case.folder / "probe.py").read_text()) for case, side in sides)


def run_all(scripts: Iterable[tuple[Case, Side, str]]) -> dict[tuple[str, Side], str]:
    """What each script prints beside its side, all in one process that forks for each."""
    keys: list[tuple[str, Side]] = []
    jobs: list[tuple[str, str, str]] = []
    with tempfile.TemporaryDirectory() as folder:
        for case, side, script in scripts:
            tree = write_tree(case.tree(side), Path(folder, case.id, side))
            probe = tree.with_suffix(".py")
            probe.write_text(script)
            keys.append((case.id, side))
            jobs.append((str(probe), str(tree), "."))
        done = subprocess.run(
            [sys.executable, "-I", "-S", "-B", str(_DRIVER)],
            input=json.dumps(jobs),
            capture_output=True,
            text=True,
            timeout=_ALL_PROBES_SECONDS,
            check=True,
        )
    return dict(zip(keys, json.loads(done.stdout), strict=True))
