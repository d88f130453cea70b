"""Which names a nested function, lambda or comprehension keeps to itself, so that they are not those of the function
around it.

Asked by the flow graph, which has single statements at hand and no whole file; binder.py answers for a file."""

from __future__ import annotations

import ast
from collections.abc import Iterator

from codemods.source.parse import DEFINITIONS, FUNCTIONS

COMPREHENSIONS = (ast.ListComp, ast.SetComp, ast.DictComp, ast.GeneratorExp)


def own_nodes(body: list[ast.stmt]) -> Iterator[ast.AST]:
    """Every node of these statements that runs in their own scope; nested definitions and lambdas come without bodies.

    A comprehension's nodes come too: its walrus targets are the scope's, its loop names are filtered by the caller."""
    stack: list[ast.AST] = list(reversed(body))
    while stack:
        node = stack.pop()
        yield node
        if isinstance(node, (*DEFINITIONS, ast.Lambda)):
            stack.extend(reversed(list(heads(node))))
        else:
            stack.extend(reversed(list(ast.iter_child_nodes(node))))


def heads(node: ast.AST) -> Iterator[ast.expr]:
    """What a definition or lambda evaluates where it stands, annotations aside."""
    yield from getattr(node, "decorator_list", [])
    if isinstance(node, ast.ClassDef):
        yield from node.bases
        yield from (keyword.value for keyword in node.keywords)
    else:
        arguments: ast.arguments = node.args  # type: ignore[attr-defined]
        yield from arguments.defaults
        yield from (default for default in arguments.kw_defaults if default is not None)


def signature_annotations(node: ast.AST) -> Iterator[ast.expr]:
    """Annotations of parameters and result."""
    if isinstance(node, FUNCTIONS):
        yield from (argument.annotation for argument in parameters(node.args) if argument.annotation is not None)
        if node.returns is not None:
            yield node.returns


def parameters(arguments: ast.arguments) -> list[ast.arg]:
    """All parameters of a signature in the order of the text."""
    found = [*arguments.posonlyargs, *arguments.args]
    found.extend([arguments.vararg] if arguments.vararg else [])
    found.extend(arguments.kwonlyargs)
    found.extend([arguments.kwarg] if arguments.kwarg else [])
    return found


def bindings(node: ast.AST) -> Iterator[str]:
    """Names that this one node binds by itself (no children)."""
    if isinstance(node, ast.Name) and not isinstance(node.ctx, ast.Load):
        yield node.id
    elif isinstance(node, DEFINITIONS):
        yield node.name
    elif isinstance(node, (ast.Import, ast.ImportFrom)):
        for alias in node.names:
            yield alias.asname or (alias.name.partition(".")[0] if isinstance(node, ast.Import) else alias.name)
    elif isinstance(node, (ast.ExceptHandler, ast.MatchAs, ast.MatchStar)):
        if node.name:
            yield node.name
    elif isinstance(node, ast.MatchMapping) and node.rest:
        yield node.rest


def bound_in(body: list[ast.stmt]) -> tuple[set[str], set[str], set[str]]:
    """Names that a scope with this body binds, declares global, declares nonlocal."""
    bound: set[str] = set()
    global_names: set[str] = set()
    nonlocal_names: set[str] = set()
    own_to_comprehensions: set[ast.AST] = set()
    for node in own_nodes(body):
        if isinstance(node, COMPREHENSIONS):
            own_to_comprehensions.update(inner for generator in node.generators for inner in ast.walk(generator.target))
        if isinstance(node, ast.Global):
            global_names.update(node.names)
        elif isinstance(node, ast.Nonlocal):
            nonlocal_names.update(node.names)
        elif node not in own_to_comprehensions:
            bound.update(bindings(node))
    return bound - nonlocal_names, global_names, nonlocal_names


def hidden_by(node: ast.AST) -> frozenset[str]:
    """Names of the scope around that are other variables inside this function, lambda, class or comprehension."""
    if isinstance(node, COMPREHENSIONS):
        targets = (inner for generator in node.generators for inner in ast.walk(generator.target))
        return frozenset(inner.id for inner in targets if isinstance(inner, ast.Name))
    own = set()
    if isinstance(node, (*FUNCTIONS, ast.Lambda)):
        own = {argument.arg for argument in parameters(node.args)}
    if isinstance(node, ast.Lambda):
        body: list[ast.stmt] = [ast.Expr(node.body)]
    else:
        body = node.body  # type: ignore[attr-defined]
    bound, global_names, _ = bound_in(body)
    return frozenset(own | bound | global_names)


def root_name(node: ast.expr) -> str:
    """`a` of `a`, `a.b` and `a.b[c]`; "" for anything else."""
    at: ast.expr = node
    while isinstance(at, (ast.Attribute, ast.Subscript)):
        at = at.value
    return at.id if isinstance(at, ast.Name) else ""
