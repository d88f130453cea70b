"""What the tests call that `unmoved prove --tests` writes: one pair proved once more, on trees that are named; a test
fails with the words of the command. Mutants are left out: a test asks whether the two agree, not how sure that is."""

from __future__ import annotations

import os
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from codemods.cli.config import Resolved
    from codemods.cli.prove_trees import Trees
    from codemods.prove.options import ProveOptions
    from codemods.report.prove_model import PairRow
    from codemods.schema.prove import Pair

_WIDTH = 110


class NotEquivalent(AssertionError):
    """A pair does not agree. row: what is reported of it."""

    def __init__(self, row: PairRow) -> None:
        super().__init__(f"\n{words_of(row)}")
        self.row = row


def words_of(row: PairRow) -> str:
    """What the command would print of a pair."""
    from codemods.report.lines import plain
    from codemods.report.prove_text import pair_lines

    return plain(pair_lines(row, width=_WIDTH))


def assert_agrees(
    *,
    old: str,
    new: str,
    root: str,
    old_tree: str,
    new_tree: str,
    kind: str = "callable",
    meant: Sequence[tuple[str, str, str]] = (),
    domains: Mapping[str, str] | None = None,
    same: Mapping[str, str] | None = None,
    real: Iterable[str] = (),
    config: Sequence[str] = (),
    paths: int | None = None,
    faults: int | None = None,
    seconds: float | None = None,
    seed: int | None = None,
) -> None:
    """Raises NotEquivalent unless `old` of one tree and `new` of the other agree, but for what is meant; UnmovedError
    where a tree can't be had."""
    __tracebackhide__ = True
    from msgspec.structs import replace

    from codemods.cli.prove_trees import Trees
    from codemods.schema.prove import DeclaredDelta, Pair, PairKind

    declared = tuple(DeclaredDelta(code=code, where=where, why=why) for code, where, why in meant)
    pair = Pair(
        old=old, new=new, kind=PairKind(kind), domains=dict(domains or {}), same=dict(same or {}), real=tuple(real),
        deltas=declared, origin="spec",
    )  # fmt: skip
    resolved = _resolved(root, config)
    given = {"paths": paths, "faults": faults, "seconds": seconds, "seed": seed}
    options = usual_options(
        resolved, {**{key: value for key, value in given.items() if value is not None}, "mutants": 0}
    )
    with Trees(resolved.root, resolved.settings) as trees:
        row = proved(trees, (old_tree, new_tree), pair, options)
    if row.verdict.value != "agrees":
        raise NotEquivalent(
            replace(row, next=row.next.replace("declare the difference in a spec with", "say it in MEANT with"))
        )


def assert_no_reader(path: str, *, root: str, old_tree: str, new_tree: str, config: Sequence[str] = ()) -> None:
    """Raises NotEquivalent where the file still names what the change has taken away."""
    __tracebackhide__ = True
    from codemods.cli.prove_derived import reader_results, readers_left
    from codemods.cli.prove_trees import SourceLines, Trees
    from codemods.report.prove_model import pair_row

    resolved = _resolved(root, config)
    with Trees(resolved.root, resolved.settings) as trees:
        change = trees.change(old_tree, new_tree)
        for result in reader_results(readers_left(change)):
            if result.new == path:
                raise NotEquivalent(pair_row(result, SourceLines(change.old, change.new)))


def _resolved(root: str, config: Sequence[str]) -> Resolved:
    from codemods.cli.config import load_config

    return load_config(Path(root), os.environ, {}, config)


def usual_options(resolved: Resolved, given: Mapping[str, object]) -> ProveOptions:
    """One process: a runner of tests spreads the tests, if anything."""
    from msgspec.structs import replace

    from codemods.prove.options import ProveOptions

    return replace(ProveOptions(jobs=1, cache_dir=resolved.root, real=resolved.config.real), **given)


def proved(trees: Trees, names: tuple[str, str], pair: Pair, options: ProveOptions) -> PairRow:
    """One pair on two trees, as it is reported."""
    from codemods.cli.prove_changes import named
    from codemods.cli.prove_trees import SourceLines
    from codemods.prove.proving import prove_pairs
    from codemods.report.prove_model import pair_row

    change = named("", trees.change(*names), [pair], names)
    [result] = prove_pairs(change.old, change.new, change.changed, change.pairs, options)
    return pair_row(result, SourceLines(change.old, change.new))
