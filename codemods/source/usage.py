"""How a method uses its first parameter: reads, writes, calls and escapes, each with its place and lateness.

Reads one method; what the attributes are elsewhere is classes.py's, what order things happen in is flow.py's."""

from __future__ import annotations

import ast
from enum import Enum

from msgspec import Struct

from codemods.source.binder import table
from codemods.source.flow import KeyOf
from codemods.source.lateness import is_late_at
from codemods.source.parse import Function, Source
from codemods.source.scopes import Role

_LOOKUPS = {"getattr": (2, 3), "hasattr": (2,)}


class UseKind(Enum):
    READ = "read"
    WRITE = "write"
    UPDATE = "update"  # augmented assignment: read and write
    DELETE = "delete"
    ANNOTATION = "annotation"  # `self.x: int` without a value does nothing
    ESCAPE = "escape"  # self itself: passed on, returned, stored, compared, looked into


WRITES = frozenset({UseKind.WRITE, UseKind.UPDATE})


class Use(Struct, frozen=True, eq=False):
    """One appearance of `self`.

    node: the `self.attr` attribute (or `getattr(self, "attr")` call) for all but ESCAPE, where it is the name itself.
    attribute: its name; for an escape "". chain: the longest dotted path, `config.host` for `self.config.host`.
    is_late: in a lambda, nested function, class or lazy generator, so it may be evaluated after the call.
    is_nested: in a scope inside the method, where an assignment to a name would bind another variable.
    is_called: `self.attr(...)`. lookup: "getattr" or "hasattr" when it is one with a literal name."""

    kind: UseKind
    node: ast.expr
    name: ast.Name
    attribute: str
    chain: str
    is_late: bool
    is_nested: bool
    is_called: bool = False
    lookup: str = ""

    @property
    def is_write(self) -> bool:
        return self.kind in WRITES

    @property
    def key(self) -> str:
        """The variable of a flow that is read or written. A lookup that can't fail is another one than the attribute
        itself, and so is one of `"__x"`, which is not mangled."""
        is_private = self.attribute.startswith("__") and not self.attribute.endswith("__")
        may_fail = isinstance(self.node, ast.Call) and self.lookup == "getattr" and len(self.node.args) == 2
        return self.attribute if not self.lookup or (may_fail and not is_private) else f"{self.lookup}:{self.attribute}"


def receiver_name(function: Function) -> str:
    """The name of the first parameter (`self`, `cls`); "" when there is none."""
    arguments = [*function.args.posonlyargs, *function.args.args]
    return arguments[0].arg if arguments else ""


def self_uses(source: Source, function: Function) -> list[Use]:
    """Every use of the first parameter inside the method, in the order of the text."""
    kept = source.notes.setdefault("self uses", {})
    assert isinstance(kept, dict)
    if function not in kept:
        kept[function] = _self_uses(source, function)
    return list(kept[function])


def _self_uses(source: Source, function: Function) -> list[Use]:
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
            found.append(_use(source, function, occurrence.node, is_nested=occurrence.scope is not home))
    return found


def attributes_of(receiver: str, uses: list[Use] | tuple[Use, ...]) -> KeyOf:
    """The variables of a flow: attributes of the receiver, `getattr(self, "x")` included."""
    looked_up = {use.name: use.key for use in uses if use.lookup}

    def key_of(node: ast.expr) -> str | None:
        if isinstance(node, ast.Attribute):
            is_ours = isinstance(node.value, ast.Name) and node.value.id == receiver
            return node.attr if is_ours else None
        return looked_up.get(node) if isinstance(node, ast.Name) else None

    return key_of


def bare_supers(function: Function) -> list[ast.Name]:
    """`super()` without arguments and `__class__`: they need the class around the code."""
    called_with = {
        node.func for node in ast.walk(function) if isinstance(node, ast.Call) and (node.args or node.keywords)
    }
    return [
        node
        for node in ast.walk(function)
        if isinstance(node, ast.Name) and (node.id == "__class__" or (node.id == "super" and node not in called_with))
    ]


def _use(source: Source, function: Function, name: ast.Name, *, is_nested: bool) -> Use:
    parent = source.parents[name]
    # Lambdas, functions and generators have scopes of their own; only a walrus leaves its scope.
    is_late = (is_nested or isinstance(parent, ast.NamedExpr)) and is_late_at(source, function, name)
    if isinstance(parent, ast.Attribute) and parent.attr != "__dict__":
        above = source.parents[parent]
        kind = _kind_of(parent.ctx)
        if isinstance(above, ast.AugAssign) and above.target is parent:
            kind = UseKind.UPDATE
        elif isinstance(above, ast.AnnAssign) and above.target is parent and above.value is None:
            kind = UseKind.ANNOTATION
        is_called = isinstance(above, ast.Call) and above.func is parent
        return Use(kind, parent, name, parent.attr, _chain(source, parent), is_late, is_nested, is_called)
    lookup = _lookup(parent, name)
    if isinstance(parent, ast.Call) and lookup:
        attribute = str(parent.args[1].value)  # type: ignore[attr-defined]
        return Use(UseKind.READ, parent, name, attribute, attribute, is_late, is_nested, lookup=lookup)
    return Use(UseKind.ESCAPE, name, name, "", "", is_late, is_nested)


def _kind_of(context: ast.expr_context) -> UseKind:
    if isinstance(context, ast.Store):
        return UseKind.WRITE
    return UseKind.DELETE if isinstance(context, ast.Del) else UseKind.READ


def _lookup(call: ast.AST, name: ast.Name) -> str:
    """The builtin of `getattr(self, "literal")`, also with a constant default, or of `hasattr(self, "literal")`: a read
    of one attribute under another spelling."""
    if not isinstance(call, ast.Call) or not isinstance(call.func, ast.Name) or call.keywords:
        return ""
    if len(call.args) not in _LOOKUPS.get(call.func.id, ()) or call.args[0] is not name:
        return ""
    literal = call.args[1]
    is_name = isinstance(literal, ast.Constant) and isinstance(literal.value, str) and literal.value.isidentifier()
    is_plain = len(call.args) == 2 or isinstance(call.args[2], ast.Constant)
    return call.func.id if is_name and is_plain else ""


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
