"""Stands in for the engine of `prove` where the command and the plugin are tested: a pair's verdict is in its name."""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping, Sequence
from typing import NamedTuple

from codemods.prove.options import ProveOptions
from codemods.prove.residue import Renamed
from codemods.schema.prove import (
    Delta,
    Effects,
    Level,
    Mutants,
    Pair,
    PairResult,
    ProofVerdict,
)
from codemods.source.files import FileSet
from codemods.source.modules import modules_of


class Call(NamedTuple):
    """What one call of `prove_pairs` was given."""

    old: FileSet
    new: FileSet
    changed: tuple[str, ...]
    pairs: tuple[Pair, ...]
    options: ProveOptions


class FakeEngine:
    """residues: what `pairs_of_change` was given, in order."""

    def __init__(self) -> None:
        self.calls: list[Call] = []
        self.identities: list[str] = []
        self.residues: list[Mapping[str, Collection[int]] | None] = []

    @property
    def asked(self) -> list[tuple[str, str]]:
        return [(pair.old, pair.new) for call in self.calls for pair in call.pairs]

    def prove_pairs(
        self,
        old: FileSet,
        new: FileSet,
        changed: Collection[str],
        pairs: Sequence[Pair],
        options: ProveOptions,
        on_done: Callable[[PairResult], None] | None = None,
        *,
        identity: str = "",
    ) -> list[PairResult]:
        self.identities.append(identity)
        self.calls.append(Call(old, new, tuple(changed), tuple(pairs), options))
        results = [result_of(pair, new) for pair in pairs]
        for result in results:
            if on_done is not None:
                on_done(result)
        return results

    def pairs_of_change(
        self,
        old: FileSet,
        new: FileSet,
        changed: Collection[str],
        residue: Mapping[str, Collection[int]] | None = None,
        renamed: Sequence[Renamed] = (),
    ) -> list[Pair]:
        """Each changed module as one function of its name."""
        del old, renamed
        self.residues.append(residue)
        touched = {path.removeprefix("old:") for path, lines in (residue or {}).items() if lines}
        paths = [path for path in sorted(changed) if path.endswith(".py") and path in new]
        names = [modules_of(new).module_of(path) for path in paths if residue is None or path in touched]
        return [Pair(old=f"{name}:f", new=f"{name}:f", origin="ledger") for name in names]


def result_of(pair: Pair, new: FileSet) -> PairResult:
    """`bad` in a name differs, `unsure` is inconclusive, everything else agrees."""
    if "unsure" in pair.new:
        return PairResult(
            old=pair.old, new=pair.new, kind=pair.kind, origin=pair.origin, verdict=ProofVerdict.INCONCLUSIVE,
            reason="it took longer than 60 s and was stopped",
        )  # fmt: skip
    if "bad" not in pair.new:
        return PairResult(
            old=pair.old, new=pair.new, kind=pair.kind, origin=pair.origin, verdict=ProofVerdict.AGREES,
            level=Level.EXHAUSTIVE, paths=4, mutants=Mutants(killed=2, total=2),
        )  # fmt: skip
    path = modules_of(new).path_of(pair.new.partition(":")[0]) or ""
    delta = Delta(
        code="D6", path=path, line=2, message="return 1  ->  return 2", old_path=path, old_line=2, world=("x is None",)
    )
    return PairResult(
        old=pair.old, new=pair.new, kind=pair.kind, origin=pair.origin, verdict=ProofVerdict.DIFFERS, paths=4,
        deltas=(delta,), effects=Effects(old=(("return 1", 2),), new=(("return 2", 2),)),
    )  # fmt: skip
