"""`python -m tests.bench.prove_cases`: each given regression pair, with its slip and corrected, and each given mutant,
as `unmoved prove` works on them: confined, without cache, without a spec. Prints what came of each as JSON lines."""

from __future__ import annotations

import argparse
import json
import sys
import time
from collections.abc import Iterator
from pathlib import Path

from codemods.prove.options import ProveOptions
from codemods.prove.pairs import pairs_of_change
from codemods.prove.proving import prove_pairs
from codemods.schema.prove import Delta, PairResult, ProofVerdict
from codemods.source.files import FileSet, MemoryTree
from tests.prove.regression_pairs import DECLARED, Case, is_meant, load_cases
from tests.support.field_cases import contents

MUTANTS = Path(__file__).parents[1] / "cases" / "mutants"


def main(arguments: list[str] | None = None) -> int:
    """Prove and print. See the module's docstring."""
    parser = argparse.ArgumentParser(prog="python -m tests.bench.prove_cases", description=__doc__)
    parser.add_argument("what", choices=("slips", "corrected", "mutants"))
    parser.add_argument("-j", type=int, default=2, help="processes (default 2)")
    options = parser.parse_args(arguments)
    asked = ProveOptions(jobs=options.j, mutants=0, paths=3000, faults=6000)
    for name, old, new, case in _trees(options.what):
        began = time.perf_counter()
        results = _proved(old, new, asked)
        found = {
            "name": name,
            "wall_s": time.perf_counter() - began,
            "pairs": len(results),
            **_said(results, case, options.what),
        }
        sys.stdout.write(json.dumps(found) + "\n")
    return 0


def given() -> list[Case]:
    """The regression pairs that were reported in the field."""
    return [case for case in load_cases() if case.report]


def _trees(what: str) -> Iterator[tuple[str, FileSet, FileSet, Case | None]]:
    if what != "mutants":
        for case in given():
            yield case.id, case.files("before"), case.files("after" if what == "slips" else "fixed"), case
        return
    base = contents(MUTANTS / "base")
    for folder in sorted([*(MUTANTS / "differs").iterdir(), *(MUTANTS / "agrees").iterdir()]):
        changed = FileSet(MemoryTree(base | contents(folder)))
        yield f"{folder.parent.name}/{folder.name}", FileSet(MemoryTree(base)), changed, None


def _proved(old: FileSet, new: FileSet, options: ProveOptions) -> list[PairResult]:
    paths = {*old.paths(), *new.paths()}
    changed = {path for path in paths if path not in old or path not in new or old.read(path) != new.read(path)}
    return prove_pairs(old, new, changed, pairs_of_change(old, new, changed), options)


def _said(results: list[PairResult], case: Case | None, what: str) -> dict[str, object]:
    """differs: something does that is not declared. is_named: a delta names the right place. unknown: what could not
    be compared."""
    deltas = [delta for each in results for delta in each.deltas]
    if what == "corrected" and case is not None and case.id in DECLARED:
        deltas = [delta for delta in deltas if not is_meant(delta, DECLARED[case.id])]
    return {
        "differs": bool(deltas),
        "is_named": case is not None and any(case.where.names(*place) for each in deltas for place in _places(each)),
        "unknown": sum(each.verdict is ProofVerdict.INCONCLUSIVE for each in results),
    }


def _places(delta: Delta) -> list[tuple[str, int]]:
    return [(delta.path, delta.line), (delta.old_path, delta.old_line)]


if __name__ == "__main__":
    sys.exit(main())
