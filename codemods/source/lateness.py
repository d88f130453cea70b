"""Whether code inside a function may run after the function has returned: in a closure, a lambda or a generator.

A lambda that a builtin calls on the spot and a helper function that is only called are not late. What the code reads is
the caller's question."""

from __future__ import annotations

import ast

from codemods.source.binder import table
from codemods.source.parse import FUNCTIONS, Function, Source
from codemods.source.scopes import Role

_EAGER_CONSUMERS = frozenset(
    {"all", "any", "bool", "bytes", "dict", "frozenset", "list", "max", "min", "set", "sorted", "sum", "tuple", "join"}
)
_WITH_KEY = frozenset({"max", "min", "sorted", "sort"})
_LAZY_ITERATORS = frozenset({"map", "filter"})


def is_late_at(source: Source, function: Function, node: ast.AST) -> bool:
    """Whether code at `node` may run after the function has returned, or at another time than its statement."""
    below: ast.AST = node
    for above in source.ancestors(node):
        if above is function:
            return False
        if isinstance(above, ast.Lambda) and below is above.body and not _is_called_at_once(source, above):
            return True
        if isinstance(above, FUNCTIONS) and below in above.body and not _is_only_called(source, function, above):
            return True
        if isinstance(above, ast.GeneratorExp) and not is_consumed(source, above):
            outermost = above.generators[0]
            if not (below is outermost and _inside(source, node, outermost.iter)):
                return True
        below = above
    return False


def _inside(source: Source, node: ast.AST, whole: ast.AST) -> bool:
    return node is whole or any(above is whole for above in source.ancestors(node))


def is_consumed(source: Source, iterator: ast.expr) -> bool:
    """An iterator that is run to its end on the spot, or driven by the loop it stands in."""
    above = source.parents[iterator]
    if isinstance(above, (ast.For, ast.comprehension)):
        inner = source.parents[above]
        return above.iter is iterator and not (isinstance(above, ast.comprehension) and _is_lazy(source, inner))
    if isinstance(above, ast.Starred):
        return True
    if not isinstance(above, ast.Call) or iterator not in above.args:
        return False
    name = above.func.id if isinstance(above.func, ast.Name) else getattr(above.func, "attr", "")
    return name in _EAGER_CONSUMERS and (isinstance(above.func, ast.Name) or name == "join")


def _is_lazy(source: Source, node: ast.AST) -> bool:
    return isinstance(node, ast.GeneratorExp) and not is_consumed(source, node)


def _is_called_at_once(source: Source, node: ast.Lambda) -> bool:
    """`sorted(xs, key=lambda …)`, `list(map(lambda …, xs))`: nobody keeps the lambda."""
    above = source.parents[node]
    if isinstance(above, ast.Call) and above.func is node:
        return True
    if isinstance(above, ast.keyword) and above.arg == "key":
        call = source.parents[above]
        assert isinstance(call, ast.Call)
        name = call.func.id if isinstance(call.func, ast.Name) else getattr(call.func, "attr", "")
        return name in _WITH_KEY and (isinstance(call.func, ast.Name) != (name == "sort"))
    if isinstance(above, ast.Call) and isinstance(above.func, ast.Name) and above.func.id in _LAZY_ITERATORS:
        return above.args[:1] == [node] and is_consumed(source, above)
    return False


def _is_only_called(source: Source, function: Function, helper: Function) -> bool:
    """A helper of the function that nobody keeps: each use of its name is a call, none of them late itself."""
    if isinstance(helper, ast.AsyncFunctionDef) or helper.decorator_list or _yields(helper):
        return False
    scopes = table(source)
    around = source.enclosing(helper, *FUNCTIONS, ast.ClassDef, ast.Lambda)
    if around is not function:
        return False
    home = scopes.scope_of(function)
    uses = [each for each in scopes.named(helper.name) if scopes.resolve(each) is home]
    for use in uses:
        if use.role is Role.DEFINE and use.node is helper:
            continue
        call = source.parents.get(use.node)
        if use.role is not Role.LOAD or not isinstance(call, ast.Call) or call.func is not use.node:
            return False
        if not _inside(source, use.node, helper) and is_late_at(source, function, use.node):
            return False
    return True


def _yields(function: Function) -> bool:
    stack: list[ast.AST] = list(function.body)
    while stack:
        node = stack.pop()
        if isinstance(node, (ast.Yield, ast.YieldFrom)):
            return True
        if not isinstance(node, (*FUNCTIONS, ast.Lambda)):
            stack.extend(ast.iter_child_nodes(node))
    return False
