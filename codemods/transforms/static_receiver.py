"""The object in a caller's hands: how its attributes are spelt there, and whether it may be evaluated again.

Private names (`__x`) are spelt plainly in the class that owns them and with its name everywhere else."""

from __future__ import annotations

import ast

from msgspec import Struct

from codemods.source.binder import table
from codemods.source.parse import FUNCTIONS, Source
from codemods.source.scopes import Role, Scope, ScopeKind


def is_private(name: str) -> bool:
    """Whether a class mangles the name."""
    return name.startswith("__") and not name.endswith("__")


def mangled(name: str, owner: str) -> str:
    """The name an attribute really has; owner: the name of the class whose body spells it."""
    stripped = owner.lstrip("_")
    return f"_{stripped}{name}" if is_private(name) and stripped else name


class Receiver(Struct, frozen=True, kw_only=True):
    """text: the expression. owner: the class that private names belong to. is_inside: whether the code stands in it.

    kept: the name under which a getter keeps the object, where the caller's own name may mean another one later."""

    text: str
    owner: str = ""
    is_inside: bool = True
    kept: str = ""

    def spelled(self, attribute: str) -> str:
        """The attribute as it must be written at this place."""
        return attribute if self.is_inside else mangled(attribute, self.owner)

    def real(self, attribute: str) -> str:
        """The attribute's name as a string must have it."""
        return mangled(attribute, self.owner)


def is_plain(receiver: ast.expr) -> bool:
    """A name or a dotted chain of names: evaluating it again gives the same object unless somebody binds it anew."""
    at = receiver
    while isinstance(at, ast.Attribute):
        at = at.value
    return isinstance(at, ast.Name)


def may_be_rebound(source: Source, receiver: ast.expr) -> bool:
    """Whether the expression may give another object when a closure evaluates it later."""
    if not isinstance(receiver, ast.Name):
        return True
    home = _home(source, receiver)
    if home is None:
        return True
    bindings = home.bound[receiver.id]
    if home.kind is ScopeKind.COMPREHENSION or len(bindings) != 1 or _is_declared(source, receiver.id):
        return True
    only = bindings[0]
    loop = source.enclosing(only.node, ast.For, ast.AsyncFor, ast.While, *FUNCTIONS)
    return only.role is not Role.PARAMETER and isinstance(loop, (ast.For, ast.AsyncFor, ast.While))


def may_be_global(source: Source, receiver: ast.expr) -> bool:
    """A module-level name that some function, or a second statement, binds anew: a call in between may do that."""
    at = receiver
    while isinstance(at, ast.Attribute):
        at = at.value
    assert isinstance(at, ast.Name)
    home = _home(source, at)
    if home is None or home.kind is not ScopeKind.MODULE:
        return False
    return len(home.bound[at.id]) > 1 or _is_declared(source, at.id)


def _is_declared(source: Source, name: str) -> bool:
    """Whether some scope says `global` or `nonlocal` about the name."""
    return any(each.role is Role.DECLARE for each in table(source).named(name))


def _home(source: Source, name: ast.Name) -> Scope | None:
    scopes = table(source)
    found = next((each for each in scopes.named(name.id) if each.node is name), None)
    return scopes.resolve(found) if found is not None else None


def is_in_class(source: Source, node: ast.AST, qualname: str) -> bool:
    """Whether the innermost class around the code is the class of this qualname."""
    parts: list[str] = []
    below = node
    innermost: ast.AST | None = None
    for above in source.ancestors(node):
        if isinstance(above, ast.ClassDef) and below in above.body and innermost is None:
            innermost = above
        below = above
    at = innermost
    while isinstance(at, ast.ClassDef):
        parts.append(at.name)
        around = source.enclosing(at, ast.ClassDef, *FUNCTIONS)
        if isinstance(around, FUNCTIONS):
            parts.append("<locals>")
        at = around
    return bool(parts) and ".".join(reversed(parts)) == qualname
