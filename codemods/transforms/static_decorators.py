"""Which decorators leave a function, or a class, what it is: those that a static method or a qualified call may keep.

A decorator of the tree is read; one from outside has to be known by name. Everything else may expect the instance
first, keep what it gets, or put something else in its place."""

from __future__ import annotations

import ast

from codemods.source.binder import table
from codemods.source.classes import resolve
from codemods.source.files import FileSet
from codemods.source.imports import Origin
from codemods.source.members import decorator_name, function_at
from codemods.source.parse import DEFINITIONS, FUNCTIONS, Function, Source
from codemods.source.scopes import Scope

# They hand every argument on as it comes.
_PASS_ON = frozenset(
    {"contextlib.contextmanager", "contextlib.asynccontextmanager", "typing.final", "typing.no_type_check"}
    | {"typing_extensions.final", "typing.override", "typing_extensions.override", "typing_extensions.deprecated"}
    | {"torch.no_grad", "torch.inference_mode", "torch.enable_grad", "warnings.deprecated"}
)
_KEEP_CLASS = frozenset(
    {"dataclasses.dataclass", "functools.total_ordering", "enum.unique", "enum.verify", "typing.final"}
    | {"typing.runtime_checkable", "typing.dataclass_transform", "typing.no_type_check", "warnings.deprecated"}
    | {f"typing_extensions.{leaf}" for leaf in ("final", "runtime_checkable", "dataclass_transform", "deprecated")}
    | {f"attrs.{leaf}" for leaf in ("define", "frozen", "mutable", "attrs")}
    | {f"attr.{leaf}" for leaf in ("s", "attrs", "define", "frozen", "mutable", "dataclass")}
    | {"unittest.skip", "unittest.skipIf", "unittest.skipUnless", "pydantic.dataclasses.dataclass"}
)
_KEEP_PREFIXES = ("pytest.mark.", "unittest.mock.patch", "hypothesis.")


def passes_on(files: FileSet, source: Source, decorator: ast.expr, scope: Scope) -> bool:
    """Whether the decorated function still gets every argument as it was given, and nobody keeps it."""
    name = decorator_name(files, source, decorator, scope)
    if name in _PASS_ON:
        return True
    return any(_is_forwarder(each) for each in _makers(files, source, decorator, scope))


def keeps_class(files: FileSet, source: Source, decorator: ast.expr) -> bool:
    """Whether the name of the decorated class still is the class."""
    scope = table(source).module
    name = decorator_name(files, source, decorator, scope)
    if name in _KEEP_CLASS or name.startswith(_KEEP_PREFIXES):
        return True
    return any(_gives_back(each) for each in _makers(files, source, decorator, scope))


def _makers(files: FileSet, source: Source, decorator: ast.expr, scope: Scope) -> list[Function]:
    """The function of the tree that gets what is decorated: the decorator, or what a called one returns."""
    named = decorator.func if isinstance(decorator, ast.Call) else decorator
    homes = resolve(files, source, named, scope)
    found = function_at(files, homes[0]) if len(homes) == 1 and isinstance(homes[0], Origin) else None
    if found is None:
        return []
    if not isinstance(decorator, ast.Call):
        return [found[1]]
    inner = _returned_function(found[1])
    return [inner] if inner is not None else []


def _own_returns(function: Function) -> list[ast.Return]:
    stack: list[ast.AST] = list(function.body)
    found: list[ast.Return] = []
    while stack:
        node = stack.pop()
        if isinstance(node, ast.Return):
            found.append(node)
        elif not isinstance(node, (*DEFINITIONS, ast.Lambda)):
            stack.extend(ast.iter_child_nodes(node))
    return found


def _returned_function(function: Function) -> Function | None:
    """The function defined inside that is the only thing returned."""
    names = {getattr(node.value, "id", "") for node in _own_returns(function)}
    inner = [each for each in function.body if isinstance(each, FUNCTIONS)]
    return next((each for each in inner if names == {each.name}), None)


def _only_parameter(function: Function) -> str:
    arguments = [*function.args.posonlyargs, *function.args.args]
    return arguments[0].arg if len(arguments) == 1 and not function.args.vararg else ""


def _gives_back(function: Function) -> bool:
    """`return cls`, wherever it returns."""
    only = _only_parameter(function)
    returns = _own_returns(function)
    return bool(only) and bool(returns) and all(getattr(node.value, "id", "") == only for node in returns)


def _is_forwarder(function: Function) -> bool:
    """`def deco(fn)` with an inner `def call(*args, **kwargs)` that calls `fn(*args, **kwargs)` and does no more with
    the three."""
    only, inner = _only_parameter(function), _returned_function(function)
    if not only or inner is None or not inner.args.vararg or not inner.args.kwarg:
        return False
    own = inner.args
    if own.posonlyargs or own.args or own.kwonlyargs:
        return False
    positional, keywords = inner.args.vararg.arg, inner.args.kwarg.arg
    allowed: set[ast.AST] = set()
    for node in ast.walk(function):
        if not isinstance(node, ast.Call):
            continue
        starred = [each.value for each in node.args if isinstance(each, ast.Starred)]
        doubled = [each.value for each in node.keywords if each.arg is None]
        is_forward = isinstance(node.func, ast.Name) and node.func.id == only and len(node.args) == 1
        if is_forward and len(node.keywords) == 1 and len(starred) == len(doubled) == 1:
            allowed.update((node.func, starred[0], doubled[0]))
        leaf = node.func.attr if isinstance(node.func, ast.Attribute) else getattr(node.func, "id", "")
        if leaf in {"wraps", "update_wrapper"}:
            allowed.update(each for each in node.args if getattr(each, "id", "") == only)
    used = {node for node in ast.walk(function) if isinstance(node, ast.Name)} - allowed
    names_only = {only, positional, keywords}
    return not any(node.id in names_only and not _asks_name(function, node) for node in used)


def _asks_name(function: Function, name: ast.Name) -> bool:
    """`fn.__name__` and `fn.__qualname__`, for a message."""
    return any(
        isinstance(node, ast.Attribute) and node.value is name and node.attr in {"__name__", "__qualname__"}
        for node in ast.walk(function)
    )
