"""What the parameters of a function stand for in the function it came from, where no call of it was compared."""

from __future__ import annotations

import ast

from codemods.source.nodes import walk
from codemods.verify.kernel import Kernel
from codemods.verify.moments import NEW
from codemods.verify.names import Definition, Names
from codemods.verify.scopes import Function


def given(kernel: Kernel, sides: tuple[Names, Names], before: Definition, after: Definition) -> dict[str, ast.expr]:
    """What the parameters of a function stand for in the old one, where no call was compared: what a call gives
    them, or attributes of their names."""
    was, node = (names.definitions(each[0])[each[1]] for names, each in zip(sides, (before, after), strict=True))
    assert isinstance(was, (ast.FunctionDef, ast.AsyncFunctionDef))
    assert isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef))
    known = {arg.arg for arg in [*was.args.args, *was.args.kwonlyargs]}
    kept = {arg.arg for arg in [*node.args.args, *node.args.kwonlyargs]}
    # A parameter that stands where one stood whose name is gone is that one, renamed.
    places = zip(was.args.args, node.args.args, strict=False)
    known |= {new.arg for old, new in places if old.arg not in kept}
    names = [arg.arg for arg in [*node.args.args, *node.args.kwonlyargs] if arg.arg not in known]
    first = was.args.args[0].arg if was.args.args else "self"
    seen = kernel.canon[NEW].bound.get(after, {})
    return {name: seen.get(name) or _meant(name, first, was, before[1]) for name in names}


def _meant(name: str, first: str, was: Function, qualname: str) -> ast.expr:
    """A new parameter called after the class is the object itself; any other is the attribute of its name."""
    owner = qualname.rpartition(".")[0].rpartition(".")[2].lower()
    reads = any(isinstance(node, ast.Attribute) and node.attr == name for node in walk(was))
    if owner and not reads and name.replace("_", "") in owner:
        return ast.Name(first, ast.Load())
    return ast.Attribute(ast.Name(first, ast.Load()), name, ast.Load())
