"""A plan on a tree, commit by commit, and what a pair of a commit is proved to be. Nothing is written to disk."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from codemods.prove import opaque
from codemods.prove.options import ProveOptions
from codemods.prove.others import prove_other
from codemods.prove.partners import definitions
from codemods.prove.prover import prove_pair
from codemods.prove.sides import FunctionNode, Side
from codemods.prove.stable import Twins
from codemods.schema.prove import Pair, PairKind, PairResult
from codemods.schema.result import CommitDraft, PlanResult
from codemods.source.files import FileSet


@dataclass(frozen=True)
class Commit:
    """One commit of a plan. hazards: the codes that its step declares or accepted."""

    step: int
    draft: CommitDraft
    hazards: frozenset[str]
    old: FileSet
    new: FileSet

    @property
    def changed(self) -> frozenset[str]:
        return frozenset(each.path for each in self.draft.changes)

    def twins(self) -> Twins:
        return Twins(Side("old", self.old), Side("new", self.new), self.changed)

    def prove(self, pair: Pair, options: ProveOptions) -> PairResult:
        opaque.forget()
        prove = prove_pair if pair.kind is PairKind.CALLABLE else prove_other
        return prove(self.twins(), pair, options)


def commits_of(files: FileSet, result: PlanResult) -> Iterator[Commit]:
    """Every commit, on the tree that those before it left."""
    for step in result.steps:
        hazards = frozenset(each.code for each in step.hazards)
        for draft in step.commits:
            before = files
            for change in draft.changes:
                files = files.delete(change.path) if change.after is None else files.write(change.path, change.after)
            yield Commit(step.number, draft, hazards, before, files)


def changed_callables(commit: Commit) -> list[Pair]:
    """Functions and methods of the changed files with another text on both sides, under the name that each has there;
    those whose text stands elsewhere under another name too."""
    twins = commit.twins()
    found = []
    for path in sorted(commit.changed):
        if not path.endswith(".py") or path not in commit.new:
            continue
        module = twins.new.modules.module_of(path)
        for qualname, node in definitions(twins.new.facts(module)).items():
            key = f"{module}:{qualname}"
            canonical = twins.canonical(twins.new, key)
            there = twins.old.definition(*canonical.split(":"))[0] if twins.old.facts(canonical.split(":")[0]) else None
            if not isinstance(node, FunctionNode) or not isinstance(there, FunctionNode):
                continue
            if canonical != key or twins.digest(there) != twins.digest(node):
                found.append(Pair(old=canonical, new=key))
    return found + _taken_out(twins, commit)


def _taken_out(twins: Twins, commit: Commit) -> list[Pair]:
    """Methods that are gone, with the function of the same name that came."""
    found = []
    came = [key for key, node in twins.only(twins.new, twins.old).items() if isinstance(node, FunctionNode)]
    for path in sorted(commit.changed):
        module = twins.old.modules.module_of(path) if path in commit.old else ""
        there = definitions(twins.new.facts(module)) if module else {}
        for qualname, node in definitions(twins.old.facts(module)).items() if module else ():
            new = [key for key in came if key.partition(":")[2] == node.name]
            if "." in qualname and qualname not in there and len(new) == 1:
                found.append(Pair(old=f"{module}:{qualname}", new=new[0]))
    return found
