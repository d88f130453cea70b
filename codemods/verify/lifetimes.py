"""Objects that die at another moment: a local of a block that became a function lives as long as that function runs.

Noticed where the object's class has a `__del__` in the tree; what only weak references can see is out of sight."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator

from codemods.schema.errors import SourceError
from codemods.schema.verdict import Problem
from codemods.source.index import mentioning
from codemods.source.nodes import walk
from codemods.verify.change import TreeChange
from codemods.verify.frames import Claims
from codemods.verify.names import Names

_FUNCTIONS = (ast.FunctionDef, ast.AsyncFunctionDef)


class Lifetimes:
    """The functions that only one side has, and what they keep in locals."""

    def __init__(self, change: TreeChange, claims: Claims, old: Names, new: Names) -> None:
        self.change = change
        paired = ({*claims.pairs}, {*claims.pairs.values()})
        self._made: list[tuple[int, str, int, str]] = []
        for side, (mine, other, tree) in enumerate(((old, new, change.old), (new, old, change.new))):
            for path in sorted(claims.changed):
                for qualname, node in mine.definitions(path).items() if path in tree else ():
                    is_alone = (path, qualname) not in paired[side] and not other.has((path, qualname))
                    if is_alone and isinstance(node, _FUNCTIONS):
                        self._made += [(side, path, line, name) for name, line in _kept(node)]

    def words(self) -> set[str]:
        """What will be looked for."""
        return {"__del__"} if self._made else set()

    def problems(self) -> Iterator[Problem]:
        """A local that is an object which does something when it dies."""
        for path in mentioning(self.change.new, "__del__") if self._made else ():
            try:
                raw = self.change.new.read(path)
            except SourceError:  # too large to be code
                continue
            for side, home, line, name in self._made:
                if re.search(
                    rb"^class " + name.encode() + rb"\b(?:[^\n]*\n(?!\S))*?[ \t]+def __del__\(", raw, re.MULTILINE
                ):
                    text = f"a {name} is kept in a local here, and does something when it dies: at another moment now"
                    yield Problem(home, line if side else 1, "object-lifetime", text)


def _kept(node: ast.FunctionDef | ast.AsyncFunctionDef) -> Iterator[tuple[str, int]]:
    """Names that are called for a local, with the line."""
    for each in walk(node):
        value = each.value if isinstance(each, (ast.Assign, ast.AnnAssign, ast.NamedExpr)) else None
        if isinstance(value, ast.Call) and isinstance(value.func, (ast.Name, ast.Attribute)):
            yield ast.unparse(value.func).rpartition(".")[2], value.lineno
