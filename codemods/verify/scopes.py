"""The names that a piece of code binds, and where: statements at any depth, definitions, parameters, locals.

Looks at one syntax tree; what a name means is for names.py to say."""

from __future__ import annotations

import ast
from collections.abc import Iterable, Iterator, Sequence

from codemods.source.nodes import children, walk

Function = ast.FunctionDef | ast.AsyncFunctionDef
_SCOPES = (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef, ast.Lambda)
_COMPREHENSIONS = (ast.ListComp, ast.SetComp, ast.DictComp, ast.GeneratorExp)
_BINDING = frozenset({*_SCOPES, *_COMPREHENSIONS, ast.Import, ast.ImportFrom, ast.Name, ast.ExceptHandler, ast.MatchAs,
                      ast.MatchStar, ast.MatchMapping})  # fmt: skip
_WITHOUT_BLOCKS = frozenset({ast.Expr, ast.Assign, ast.AnnAssign, ast.AugAssign, ast.Return, ast.Raise, ast.Assert,
                             ast.Import, ast.ImportFrom, ast.Pass, ast.Delete, ast.Global})  # fmt: skip
_KEPT = "_unmoved_local_names"  # on the node itself: asked for again and again


def own_name(node: Function | ast.ClassDef) -> str:
    """What a definition is called among its siblings: `size`, and for what `@size.setter` makes of it `size@setter`."""
    if not isinstance(node, ast.ClassDef) and len(node.decorator_list) == 1:
        base, _, kind = ast.unparse(node.decorator_list[0]).partition(".")
        if base == node.name and kind in ("setter", "deleter", "getter"):
            return f"{base}@{kind}"
    return node.name


def definitions_in(body: list[ast.stmt], prefix: str) -> Iterator[tuple[str, ast.stmt]]:
    seen: set[str] = set()
    for node in _level(body):
        if isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef)):
            # An accessor in front of its property is none: then the name has two definitions.
            yield prefix + (own_name(node) if node.name in seen else node.name), node
            seen.add(node.name)
            if isinstance(node, ast.ClassDef):
                yield from definitions_in(node.body, f"{prefix}{node.name}.")
        elif isinstance(node, (ast.Assign, ast.AnnAssign, ast.AugAssign)):
            targets = node.targets if isinstance(node, ast.Assign) else [node.target]
            yield from ((prefix + target.id, node) for target in targets if isinstance(target, ast.Name))


def _level(body: list[ast.stmt]) -> Iterator[ast.stmt]:
    """The statements of a block and of the blocks in it, without those of functions and classes."""
    for node in body:
        yield node
        if not isinstance(node, _SCOPES):
            for part in ("body", "orelse", "finalbody"):
                yield from _level(getattr(node, part, []))
            for inner in [*getattr(node, "handlers", []), *getattr(node, "cases", [])]:
                yield from _level(inner.body)


def statements(body: Iterable[ast.stmt]) -> Iterator[ast.stmt]:
    """Every statement of a block, at any depth."""
    todo = list(body)
    while todo:
        node = todo.pop()
        yield node
        if type(node) in _WITHOUT_BLOCKS:
            continue
        for part in ("body", "orelse", "finalbody"):
            todo += getattr(node, part, ())
        for inner in [*getattr(node, "handlers", ()), *getattr(node, "cases", ())]:
            todo += inner.body


def bindings(body: Sequence[ast.AST]) -> Iterator[tuple[str, ast.AST]]:
    """Every name a block binds in its own scope, with what binds it; a star import binds "*"."""
    todo: list[ast.AST] = list(body)
    while todo:
        node = todo.pop()
        if type(node) not in _BINDING:
            todo += children(node)
        elif isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef)):
            yield node.name, node
            todo += [*node.decorator_list, *_evaluated(node)]
        elif isinstance(node, ast.Lambda):
            todo += [*node.args.defaults, *(default for default in node.args.kw_defaults if default)]
        elif isinstance(node, _COMPREHENSIONS):
            yield from ((inner.target.id, inner) for inner in walk(node) if isinstance(inner, ast.NamedExpr))
        else:
            if isinstance(node, (ast.Import, ast.ImportFrom)):
                for alias in node.names:
                    is_first = isinstance(node, ast.Import) and not alias.asname
                    yield (alias.name.partition(".")[0] if is_first else alias.asname or alias.name), node
            elif isinstance(node, ast.Name) and isinstance(node.ctx, (ast.Store, ast.Del)):
                yield node.id, node
            elif isinstance(node, (ast.ExceptHandler, ast.MatchAs, ast.MatchStar)) and node.name:
                yield node.name, node
            elif isinstance(node, ast.MatchMapping) and node.rest:
                yield node.rest, node
            todo += children(node)


def _evaluated(node: Function | ast.ClassDef) -> list[ast.expr]:
    if isinstance(node, ast.ClassDef):
        return [*node.bases, *(keyword.value for keyword in node.keywords)]
    return [*node.args.defaults, *(default for default in node.args.kw_defaults if default)]


def parameters(node: Function | ast.Lambda) -> list[ast.arg]:
    """Every parameter in order, the starred ones last."""
    args = node.args
    starred = [arg for arg in (args.vararg, args.kwarg) if arg is not None]
    return [*args.posonlyargs, *args.args, *args.kwonlyargs, *starred]


def local_names(node: Function | ast.Lambda) -> frozenset[str]:
    """The names that are local to a function."""
    known = getattr(node, _KEPT, None)
    if isinstance(known, frozenset):
        return known
    body = [ast.Expr(node.body)] if isinstance(node, ast.Lambda) else node.body
    outer = {
        name for inner in _level(list(body)) if isinstance(inner, (ast.Global, ast.Nonlocal)) for name in inner.names
    }
    bound = {name for name, _ in bindings(list(body))} | {arg.arg for arg in parameters(node)}
    found = frozenset(bound - outer)
    setattr(node, _KEPT, found)
    return found


def outer_names(node: ast.AST, hidden: frozenset[str] = frozenset()) -> Iterator[str]:
    """The names in a piece of code that functions inside it do not have for themselves."""
    if isinstance(node, ast.Name) and node.id not in hidden:
        yield node.id
    inside = hidden
    if isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef, ast.Lambda)):
        inside = hidden | local_names(node)
    for field, value in ast.iter_fields(node):
        for each in value if isinstance(value, list) else [value]:
            if isinstance(each, ast.AST):
                yield from outer_names(each, inside if field == "body" else hidden)
