"""Rewrites that our own transforms make: a function renamed, a block extracted, a method made static, a method split.
What a transform refuses, or declares a hazard of, is left out: it does not claim that behaviour is kept."""

from __future__ import annotations

import ast
from collections.abc import Iterable, Iterator

from codemods.plan.check import run_step
from codemods.prove.sides import FunctionNode, Side
from codemods.schema.hazards import Severity
from codemods.schema.plan import ExtractFunction, ExtractMethod, Piece, Rename, SplitMethod, Step
from codemods.schema.result import PlanResult
from codemods.source.files import FileSet
from tests.support.plan_commits import Commit, commits_of
from tests.support.rewrites.trials import functions


def steps_for(module: str, qualname: str, node: FunctionNode, *, is_method: bool) -> Iterator[Step]:
    """What may be done to a function, in the order in which it is tried."""
    reference = f"{module}:{qualname}"
    middle = _middle(node)
    if is_method:
        if middle:
            yield SplitMethod(method=reference, pieces=(Piece(name=f"_{node.name}_piece", first=middle),))
        yield ExtractMethod(method=reference)
    else:
        if middle:
            yield ExtractFunction(function=reference, name=f"_{node.name}_piece", first=middle, last=middle)
        yield Rename(definition=reference, to=f"{node.name}_as_meant")


def _middle(node: FunctionNode) -> str:
    """The first line of a statement that can be taken out; "" where there is none."""
    for each in node.body[1:-1]:
        if isinstance(each, ast.Assign | ast.If | ast.For | ast.Expr) and not isinstance(each, ast.Return):
            return ast.unparse(each).split("\n")[0]
    return ""


def made(side: Side, paths: Iterable[str], most: int) -> Iterator[Commit]:
    """The commits of so many steps, a kind of step after the other; each on the tree as it is."""
    files: FileSet = side.files
    kinds: list[str] = []
    for module, qualname, node, is_method in functions(side, paths):
        if len(kinds) >= most:
            return
        steps = sorted(steps_for(module, qualname, node, is_method=is_method), key=lambda each: kinds.count(each.do))
        for step in steps:
            result, _ = run_step(files, step, 1, {})
            is_meant = any(each.severity is not Severity.NOTE for each in result.hazards)
            if result.refusals or is_meant or not result.commits:
                continue
            kinds.append(step.do)
            yield from commits_of(files, PlanResult(plan_id="trial", steps=(result,)))
            break
