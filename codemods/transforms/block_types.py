"""The type of a local that has no annotation, where every assignment says the same: text, a number, a truth value.

Only builtin scalars: their names need no import and can't be wrong in another place. Anything else has no type here."""

from __future__ import annotations

import ast

from codemods.source.binder import table
from codemods.source.flow_scopes import parameters
from codemods.source.imports import resolve_dotted
from codemods.source.members import function_at
from codemods.source.receivers import scope_at
from codemods.source.scopes import Role
from codemods.transforms.block_host import Host

_SCALARS = frozenset({"str", "int", "float", "bool", "bytes"})


def inferred(host: Host, name: str) -> str:
    """The scalar type that every assignment of the local gives it; "" when some gives another or none can be seen."""
    bound = table(host.source).scope_of(host.function).bound.get(name, [])
    if not bound or any(occurrence.role is not Role.STORE for occurrence in bound):
        return ""
    found = set()
    for occurrence in bound:
        statement = host.source.parents.get(occurrence.node)
        is_plain = isinstance(statement, ast.Assign) and statement.targets == [occurrence.node]
        found.add(_type_of(host, statement.value) if is_plain else "")  # type: ignore[union-attr]
    kind = found.pop() if len(found) == 1 else ""
    return kind if kind in _SCALARS and not _is_shadowed(host, kind) else ""


def _type_of(host: Host, value: ast.expr) -> str:
    if isinstance(value, ast.JoinedStr):
        return "str"
    if isinstance(value, ast.Constant):
        return type(value.value).__name__
    if isinstance(value, ast.Name):
        arguments = parameters(host.function.args)
        own = next((each for each in arguments if each.arg == value.id and not host.is_rebound(each.arg)), None)
        is_plain = own is not None and own not in (host.function.args.vararg, host.function.args.kwarg)
        return _scalar(own.annotation) if own is not None and is_plain else ""
    if isinstance(value, ast.Call):
        return _returned(host, value)
    return ""


def _returned(host: Host, call: ast.Call) -> str:
    """What an undecorated function of the tree is annotated to return."""
    home = resolve_dotted(host.files, host.source, call.func, scope_at(host.source, call))
    at = function_at(host.files, home) if home is not None and not home.is_external else None
    if at is None or isinstance(at[1], ast.AsyncFunctionDef) or at[1].decorator_list:
        return ""
    return _scalar(at[1].returns)


def _scalar(annotation: ast.expr | None) -> str:
    return annotation.id if isinstance(annotation, ast.Name) else ""


def _is_shadowed(host: Host, kind: str) -> bool:
    scopes = table(host.source)
    in_class = host.owner is not None and kind in scopes.scope_of(host.owner).bound
    return in_class or kind in scopes.module.bound
