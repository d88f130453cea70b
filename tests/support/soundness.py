"""The soundness cases: two small trees each, what `unmoved verify` must say of them, and what running them shows.

The verdict comes from reading alone, through the same functions as the command's; only the probes run the code."""

from __future__ import annotations

import functools
import json
import subprocess
import sys
from pathlib import Path
from typing import Literal

import msgspec
from msgspec import Struct

from codemods.schema.verdict import Ledger
from codemods.source.files import FileSet, MemoryTree
from tests.support.field_cases import contents

ROOT = Path(__file__).parents[1] / "cases" / "soundness"
_DRIVER = Path(__file__).with_name("run_probes.py")
_ALL_PROBES_SECONDS = 120


class Case(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """case.toml. mechanical: must be certified without a complaint; differs: must not.

    rule: the operations that explain a mechanical case. known_gap: why a mechanical case can't be certified yet."""

    id: str
    fault: str
    verdict: Literal["mechanical", "differs"]
    import_root: str
    rule: str = ""
    known_gap: str = ""

    @property
    def folder(self) -> Path:
        return ROOT / self.id


@functools.cache
def load_cases() -> tuple[Case, ...]:
    """Every case, by name."""
    paths = sorted(ROOT.glob("*/case.toml"))
    cases = tuple(msgspec.toml.decode(path.read_bytes(), type=Case) for path in paths)
    assert [case.id for case in cases] == [path.parent.name for path in paths]
    return cases


@functools.cache
def printed() -> dict[str, tuple[str, str]]:
    """By case: what its probe prints before and after. Starts with `exit` where it ended in an error."""
    sides = [(case, side) for case in load_cases() for side in ("before", "after")]
    jobs = [(str(case.folder / "probe.py"), str(case.folder / side), case.import_root) for case, side in sides]
    done = subprocess.run(
        [sys.executable, "-I", "-S", "-B", str(_DRIVER)],
        input=json.dumps(jobs),
        capture_output=True,
        text=True,
        timeout=_ALL_PROBES_SECONDS,
        check=True,
    )
    texts = iter(json.loads(done.stdout))
    return {case.id: (next(texts), next(texts)) for case in load_cases()}


def examined(case: Case) -> Ledger:
    """What verifying the case's two trees comes to."""
    from codemods.verify.certificate import examine
    from codemods.verify.chain import checks
    from codemods.verify.change import between

    old, new = (FileSet(MemoryTree(contents(case.folder / side))) for side in ("before", "after"))
    return examine(between(old, new), *checks(None, None))
