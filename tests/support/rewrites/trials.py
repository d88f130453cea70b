"""Which functions are rewritten how, and what the prover says: the same choice every time, spread over the kinds.

A kind is taken from the next function that has a place for it; no function is taken twice for one kind."""

from __future__ import annotations

import ast
from collections import Counter
from collections.abc import Iterable, Iterator
from dataclasses import dataclass

from codemods.prove import opaque
from codemods.prove.options import ProveOptions
from codemods.prove.prover import prove_pair
from codemods.prove.sides import FunctionNode, ModuleFacts, Side, reachable
from codemods.prove.stable import Twins
from codemods.schema.prove import Pair, PairResult
from codemods.source.files import FileSet
from tests.support.rewrites.conditions import CONDITIONS
from tests.support.rewrites.editing import Change, Place, Rewrite, edited, written
from tests.support.rewrites.statements import STATEMENTS
from tests.support.rewrites.values import VALUES

REWRITES: tuple[Rewrite, ...] = (*CONDITIONS, *STATEMENTS, *VALUES)
_LINES = range(3, 46)


def _options(seconds: float) -> ProveOptions:
    return ProveOptions(jobs=1, mutants=0, paths=400, faults=800, seconds=seconds)


@dataclass(frozen=True)
class Trial:
    """One function and one place in it to rewrite in one way."""

    kind: str
    side: Side
    module: str
    qualname: str
    place: Place
    change: Change

    @property
    def label(self) -> str:
        return f"{self.kind} {self.module}:{self.qualname}"

    def text(self, *, is_slip: bool = False) -> str:
        """The whole file, rewritten."""
        facts = self.side.facts(self.module)
        assert facts is not None
        edits = self.change.slip if is_slip else self.change.safe
        assert edits is not None
        source = self.side.files.read(facts.path).decode()
        return written(source, self.place.node, edited(self.place, edits))

    def prove(self, *, is_slip: bool = False, seconds: float = 90.0) -> PairResult:
        facts = self.side.facts(self.module)
        assert facts is not None
        opaque.forget()
        made = ModuleFacts(self.module, facts.path, self.text(is_slip=is_slip).encode())
        new = self.side.with_facts(made)
        new.label = "new"
        reference = f"{self.module}:{self.qualname}"
        return prove_pair(Twins(self.side, new, {facts.path}), Pair(old=reference, new=reference), _options(seconds))


def functions(side: Side, paths: Iterable[str]) -> Iterator[tuple[str, str, FunctionNode, bool]]:
    """Module, qualified name and node of every function and method of these files that is of a size to be read."""
    for path in paths:
        module = side.modules.module_of(path)
        facts = side.facts(module) if module else None
        scopes: list[tuple[str, ast.AST]] = [("", facts.tree)] if facts is not None else []
        for prefix, scope in scopes:
            for node in reachable(scope):
                if isinstance(node, ast.ClassDef):
                    scopes.append((f"{prefix}{node.name}.", node))
                elif isinstance(node, FunctionNode) and (node.end_lineno or 0) - node.lineno in _LINES:
                    yield module, prefix + node.name, node, bool(prefix)


def place_of(side: Side, module: str, node: FunctionNode) -> Place:
    """With the signatures of the plain functions of the tree that it calls by name."""
    local = {each.id for each in ast.walk(node) if isinstance(each, ast.Name) and not isinstance(each.ctx, ast.Load)}
    local |= {each.arg for each in ast.walk(node) if isinstance(each, ast.arg)}
    local |= {each.asname or each.name for each in ast.walk(node) if isinstance(each, ast.alias)}
    found: dict[str, ast.arguments] = {}
    for each in ast.walk(node):
        if isinstance(each, ast.Call) and isinstance(each.func, ast.Name) and each.func.id not in local:
            target = side.resolve(module, each.func.id)
            if isinstance(target.node, FunctionNode) and not target.node.decorator_list:
                found[each.func.id] = target.node.args
    return Place(node, found)


def chosen(side: Side, paths: Iterable[str], most: int, *, each_kind: int) -> list[Trial]:
    """At most so many trials, and so many of a kind, a function at most once."""
    counts: Counter[str] = Counter()
    found: list[Trial] = []
    for module, qualname, node, _ in functions(side, paths):
        if len(found) >= most:
            break
        place = place_of(side, module, node)
        kinds = sorted(REWRITES, key=lambda each: (counts[each.__name__], each.__name__))
        for rewrite in kinds:
            if counts[rewrite.__name__] >= each_kind:
                break
            change = next(rewrite(place), None)
            if change is not None:
                counts[rewrite.__name__] += 1
                found.append(Trial(rewrite.__name__, side, module, qualname, place, change))
                break
    return found


def side_of(files: FileSet) -> Side:
    return Side("old", files)
