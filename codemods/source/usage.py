"""How a method uses its first parameter: reads, writes, calls and escapes, each with its place and lateness.

Reads one method; what the attributes are elsewhere is classes.py's, what order things happen in is flow.py's."""

from __future__ import annotations

import ast
from enum import Enum

from msgspec import Struct

from codemods.source.binder import table
from codemods.source.parse import FUNCTIONS, Function, Source
from codemods.source.scopes import Role

_EAGER_CONSUMERS = frozenset(
    {"all", "any", "bool", "bytes", "dict", "frozenset", "list", "max", "min", "set", "sorted", "sum", "tuple", "join"}
)


class UseKind(Enum):
    READ = "read"
    WRITE = "write"
    UPDATE = "update"  # augmented assignment: read and write
    DELETE = "delete"
    ESCAPE = "escape"  # self itself: passed on, returned, stored, compared, looked into


class Use(Struct, frozen=True, eq=False):
    """One appearance of `self`.

    node: the `self.attr` attribute (or `getattr(self, "attr")` call) for all but ESCAPE, where it is the name itself.
    attribute: its name; for an escape "". chain: the longest dotted path, `config.host` for `self.config.host`.
    is_late: in a lambda, nested function, class or lazy generator, so it may be evaluated after the call.
    is_called: `self.attr(...)`. is_dynamic: `getattr(self, "attr")`."""

    kind: UseKind
    node: ast.expr
    name: ast.Name
    attribute: str
    chain: str
    is_late: bool
    is_called: bool = False
    is_dynamic: bool = False


def receiver_name(function: Function) -> str:
    """The name of the first parameter (`self`, `cls`); "" when there is none."""
    arguments = [*function.args.posonlyargs, *function.args.args]
    return arguments[0].arg if arguments else ""


def self_uses(source: Source, function: Function) -> list[Use]:
    """Every use of the first parameter inside the method, in the order of the text."""
    name = receiver_name(function)
    if not name:
        return []
    scopes = table(source)
    home = scopes.scope_of(function)
    found: list[Use] = []
    for occurrence in scopes.between(source.start(function), source.end(function)):
        if occurrence.name != name or occurrence.role is Role.PARAMETER or scopes.resolve(occurrence) is not home:
            continue
        if isinstance(occurrence.node, ast.Name):
            found.append(_use(source, function, occurrence.node))
    return found


def uses_super(function: Function) -> list[ast.Name]:
    """`super` and `__class__` names: they need the class around the code."""
    return [node for node in ast.walk(function) if isinstance(node, ast.Name) and node.id in ("super", "__class__")]


def _use(source: Source, function: Function, name: ast.Name) -> Use:
    is_late = is_late_at(source, function, name)
    parent = source.parents[name]
    if isinstance(parent, ast.Attribute):
        above = source.parents[parent]
        kind = _kind_of(parent.ctx)
        if isinstance(above, ast.AugAssign) and above.target is parent:
            kind = UseKind.UPDATE
        is_called = isinstance(above, ast.Call) and above.func is parent
        return Use(kind, parent, name, parent.attr, _chain(source, parent), is_late, is_called)
    if isinstance(parent, ast.Call) and _is_named_lookup(parent, name):
        attribute = str(parent.args[1].value)  # type: ignore[attr-defined]
        return Use(UseKind.READ, parent, name, attribute, attribute, is_late, is_dynamic=True)
    return Use(UseKind.ESCAPE, name, name, "", "", is_late)


def _kind_of(context: ast.expr_context) -> UseKind:
    if isinstance(context, ast.Store):
        return UseKind.WRITE
    return UseKind.DELETE if isinstance(context, ast.Del) else UseKind.READ


def _is_named_lookup(call: ast.Call, name: ast.Name) -> bool:
    """`getattr(self, "literal")` or with a constant default: a read of one attribute under another spelling."""
    return (
        isinstance(call.func, ast.Name)
        and call.func.id == "getattr"
        and len(call.args) in (2, 3)
        and not call.keywords
        and call.args[0] is name
        and isinstance(call.args[1], ast.Constant)
        and isinstance(call.args[1].value, str)
        and (len(call.args) == 2 or isinstance(call.args[2], ast.Constant))
    )


def _chain(source: Source, node: ast.Attribute) -> str:
    """The dotted path from `self` as far as plain reads go."""
    parts = [node.attr]
    at: ast.AST = node
    while isinstance(above := source.parents[at], ast.Attribute) and isinstance(above.ctx, ast.Load):
        parent = source.parents[above]
        if isinstance(parent, ast.Call) and parent.func is above:
            break
        parts.append(above.attr)
        at = above
    return ".".join(parts)


def is_late_at(source: Source, function: Function, node: ast.AST) -> bool:
    """Whether code at `node` may run after the function has returned, or at another time than its statement."""
    below: ast.AST = node
    for above in source.ancestors(node):
        if above is function:
            return False
        if isinstance(above, ast.Lambda) and below is above.body:
            return True
        if isinstance(above, FUNCTIONS) and below in above.body:
            return True
        if isinstance(above, ast.GeneratorExp) and not _is_consumed(source, above):
            outermost = above.generators[0]
            if not (below is outermost and _inside(source, node, outermost.iter)):
                return True
        below = above
    return False


def _inside(source: Source, node: ast.AST, whole: ast.AST) -> bool:
    return node is whole or any(above is whole for above in source.ancestors(node))


def _is_consumed(source: Source, generator: ast.GeneratorExp) -> bool:
    """A generator that a builtin runs to its end on the spot."""
    call = source.parents[generator]
    if not isinstance(call, ast.Call) or generator not in call.args:
        return False
    name = call.func.id if isinstance(call.func, ast.Name) else getattr(call.func, "attr", "")
    return name in _EAGER_CONSUMERS and (isinstance(call.func, ast.Name) or name == "join")
