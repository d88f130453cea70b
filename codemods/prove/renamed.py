"""Attributes that are another one's value under a new name, or are read through another object now, as the ledger has
found them: in pairs of methods both names stand for one input, so that a spec need not say so.

That the new name holds what the old one held is for the pair of whoever sets it to show: it differs there, once."""

from __future__ import annotations

import ast
from collections.abc import Collection, Iterator, Sequence

from msgspec.structs import replace

from codemods.prove.residue import Renamed
from codemods.prove.sides import FunctionNode
from codemods.prove.stable import Twins
from codemods.schema.prove import Pair, PairKind


def with_same(twins: Twins, pairs: Sequence[Pair], renamed: Collection[Renamed]) -> list[Pair]:
    """The pairs of callables with what their inputs are called now."""
    if not renamed:
        return list(pairs)
    return [
        replace(pair, same=dict(_same(twins, pair, renamed))) if pair.kind is PairKind.CALLABLE else pair
        for pair in pairs
    ]


def _same(twins: Twins, pair: Pair, renamed: Collection[Renamed]) -> Iterator[tuple[str, str]]:
    old, owner = _found(twins, pair.old, is_old=True)
    new, _ = _found(twins, pair.new, is_old=False)
    if not isinstance(old, FunctionNode) or not isinstance(new, FunctionNode):
        return
    before = _words(owner if owner is not None else old)
    roots = {each.arg for each in ast.walk(old.args) if isinstance(each, ast.arg)}
    fronts = {"self"} if owner is not None else set[str]()
    fronts |= {front for front in _fronts(new) if front.partition(".")[0] in roots}
    for each in sorted(renamed):
        if (each.holder or each.name) in before:
            continue  # it was there beside the old one, and may have held something else
        for front in sorted(fronts):
            held = f"{front}.{each.holder}" if each.holder else front
            yield f"{held}.{each.name}", f"{front}.{each.old}"


def _found(twins: Twins, key: str, *, is_old: bool) -> tuple[ast.AST | None, ast.ClassDef | None]:
    module, _, name = key.partition(":")
    side = twins.old if is_old else twins.new
    return side.definition(module, name) if side.facts(module) is not None else (None, None)


def _words(node: ast.AST) -> set[str]:
    return {each.attr for each in ast.walk(node) if isinstance(each, ast.Attribute)}


def _fronts(node: ast.AST) -> Iterator[str]:
    """`a`, `a.b` of each `a.b.c` in the code."""
    for each in ast.walk(node):
        path: list[str] = []
        at: ast.AST = each
        while isinstance(at, ast.Attribute):
            path.append(at.attr)
            at = at.value
        if path and isinstance(at, ast.Name):
            dotted = [at.id, *reversed(path)]
            yield from (".".join(dotted[:size]) for size in range(1, len(dotted)))
