"""Two texts of one module, m.py, and a callable in them, as the prover takes them."""

from __future__ import annotations

from msgspec.structs import replace

from codemods.prove import opaque
from codemods.prove.options import ProveOptions
from codemods.prove.prover import prove_pair
from codemods.prove.sides import Side
from codemods.prove.stable import Twins
from codemods.schema.prove import Pair, PairResult
from codemods.source.files import FileSet, MemoryTree

OPTIONS = ProveOptions(jobs=1, mutants=0, paths=2000, faults=4000, seconds=20.0)


def proved(
    before: str, after: str, name: str, *, new: str = "", pair: Pair | None = None, mutants: int = 0
) -> PairResult:
    """name: of the callable in both texts, or in the old one; new: in the new one. pair: with what a spec says."""
    opaque.forget()
    old, now = (FileSet(MemoryTree({"m.py": text.encode()})) for text in (before, after))
    asked = replace(pair or Pair(old="", new=""), old=f"m:{name}", new=f"m:{new or name}")
    return prove_pair(Twins(Side("old", old), Side("new", now), ["m.py"]), asked, replace(OPTIONS, mutants=mutants))


def codes(found: PairResult) -> list[tuple[str, int]]:
    """What differs, and in which line of the new text."""
    return sorted((each.code, each.line) for each in found.deltas)
