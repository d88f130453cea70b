"""What a rewrite is, and how it is written into a file. Which there are: conditions.py, statements.py, values.py.

Only the function's own lines change: they are what `ast.unparse` makes of it, so comments in it are lost."""

from __future__ import annotations

import ast
import copy
import textwrap
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any

FunctionNode = ast.FunctionDef | ast.AsyncFunctionDef
Edits = Mapping[int, Any]  # by id of a node of the function: what stands there instead; a list for a statement


@dataclass(frozen=True)
class Place:
    """A function that can be rewritten. functions: signatures of what a name in it calls, where that is one plain
    function of the tree."""

    node: FunctionNode
    functions: Mapping[str, ast.arguments] = field(default_factory=dict)

    def blocks(self) -> Iterator[list[ast.stmt]]:
        """Every list of statements in the function, those of functions in it left out."""
        pending: list[ast.AST] = [self.node]
        while pending:
            node = pending.pop(0)
            for name in ("body", "orelse", "finalbody"):
                block = getattr(node, name, None)
                if isinstance(block, list) and block and isinstance(block[0], ast.stmt):
                    yield block
                    pending.extend(each for each in block if not isinstance(each, _SCOPES))
            pending.extend(getattr(node, "handlers", ()))

    def statements(self) -> Iterator[ast.stmt]:
        for block in self.blocks():
            yield from block

    def expressions(self) -> Iterator[ast.expr]:
        """Every expression of the function's own, outside of other scopes and of format specs."""
        for statement in self.statements():
            pending = [each for each in ast.iter_child_nodes(statement) if not isinstance(each, ast.stmt)]
            if isinstance(statement, _SCOPES):
                continue
            while pending:
                node = pending.pop(0)
                if isinstance(node, _SCOPES):
                    continue
                if isinstance(node, ast.expr):
                    yield node
                if isinstance(node, ast.FormattedValue):
                    pending.append(node.value)
                elif not isinstance(node, ast.ExceptHandler):
                    pending.extend(each for each in ast.iter_child_nodes(node) if not isinstance(each, ast.stmt))

    def names(self) -> set[str]:
        """Every name in the function, its parameters too."""
        found = {each.id for each in ast.walk(self.node) if isinstance(each, ast.Name)}
        return found | {each.arg for each in ast.walk(self.node) if isinstance(each, ast.arg)}

    def has(self, *kinds: type[ast.AST]) -> bool:
        return any(isinstance(each, kinds) for each in ast.walk(self.node) if each is not self.node)

    def fresh(self, name: str) -> str:
        while name in self.names():
            name += "_"
        return name


_SCOPES = (
    ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef, ast.Lambda, ast.ListComp, ast.SetComp, ast.DictComp,
    ast.GeneratorExp,
)  # fmt: skip


@dataclass(frozen=True)
class Change:
    """One place to rewrite. slip: the usual mistake in the same rewrite; None where there is none here."""

    safe: Edits
    slip: Edits | None


Rewrite = Callable[[Place], Iterator[Change]]


def edited(place: Place, edits: Edits) -> FunctionNode:
    """The function with other things in some places. What stands there instead may hold nodes of the function."""
    made = _rebuilt(place.node, edits)
    assert isinstance(made, FunctionNode)
    return ast.fix_missing_locations(copy.deepcopy(made))


def _rebuilt(node: Any, edits: Edits) -> Any:
    if id(node) in edits:
        return edits[id(node)]
    if isinstance(node, list):
        made: list[Any] = []
        for each in node:
            found = _rebuilt(each, edits)
            made.extend(found if isinstance(found, list) else [found])
        return made
    if not isinstance(node, ast.AST):
        return node
    again = copy.copy(node)
    for name, value in ast.iter_fields(node):
        setattr(again, name, _rebuilt(value, edits))
    return again


def written(source: str, old: FunctionNode, new: FunctionNode) -> str:
    """The file with the new function in the place of the old one."""
    lines = source.split("\n")
    first = min([old.lineno, *(each.lineno for each in old.decorator_list)])
    assert old.end_lineno is not None
    text = textwrap.indent(_unparsed(new), " " * old.col_offset)
    return "\n".join([*lines[: first - 1], *text.split("\n"), *lines[old.end_lineno :]])


def _unparsed(node: FunctionNode) -> str:
    return ast.unparse(node)


# -- nodes


def name(text: str) -> ast.Name:
    return ast.Name(id=text, ctx=ast.Load())


def assign(target: str | ast.expr, value: ast.expr) -> ast.Assign:
    goal = ast.Name(id=target, ctx=ast.Store()) if isinstance(target, str) else target
    return ast.Assign(targets=[goal], value=value)


def negated(test: ast.expr) -> ast.expr:
    """`not test`, without one that is there already."""
    if isinstance(test, ast.UnaryOp) and isinstance(test.op, ast.Not):
        return test.operand
    return ast.UnaryOp(op=ast.Not(), operand=test)


def same(a: Any, b: Any) -> bool:
    def text(one: Any) -> str:
        return "\n".join(map(ast.dump, one)) if isinstance(one, list) else ast.dump(one)

    return text(a) == text(b)


def single_name(statement: ast.stmt) -> str:
    """The one plain name that an assignment binds; "" where it is another kind of statement."""
    if isinstance(statement, ast.Assign) and len(statement.targets) == 1:
        target = statement.targets[0]
        return target.id if isinstance(target, ast.Name) else ""
    return ""


def is_constant_like(node: ast.expr) -> bool:
    """A value that takes nothing to compute and can't fail, but for a name that may be unbound."""
    if isinstance(node, ast.List | ast.Tuple):
        return all(map(is_constant_like, node.elts))
    return isinstance(node, ast.Constant) or (isinstance(node, ast.Dict) and not node.keys)


def ends(block: list[ast.stmt]) -> bool:
    """Whether nothing after the block runs once it has run."""
    return bool(block) and isinstance(block[-1], ast.Return | ast.Raise)
