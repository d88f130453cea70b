"""The inputs of the new callable of a pair in terms of the old one's: by name, by position, as callers bind them now,
or as attributes of the old self."""

from __future__ import annotations

import ast
from collections.abc import Iterator, Mapping
from typing import Any

from codemods.prove.certain import Certain
from codemods.prove.opaque import CALL, GLOBAL, ROOT, Opaque, attribute, term
from codemods.prove.sides import Target
from codemods.prove.subject import Subject

_UNKNOWN: Any = object()


def input_term(name: str) -> Opaque:
    """The term of an input as a spec or a domain names it: `bind`, `self.args.host`, `os.environ['X']`, and what a
    function of the trees gives that is called without arguments, `srv.numa:nodes()`."""
    if name.startswith("os.environ["):
        return term(ROOT, name.replace('"', "'"))
    if ":" in name and name.endswith("()"):
        return term(CALL, term(GLOBAL, name[:-2]), (), None, 0)
    head, *path = name.split(".")
    found = term(ROOT, head)
    for part in path:
        found = attribute(found, part)
    return found


def bind_same(same: Mapping[str, str]) -> dict[str, Any]:
    """Let names of the new side (`self.ps.rank`) mean what they stand for (`self.rank`). Gives what stands for each
    that is a parameter."""
    roots: dict[str, Any] = {}
    for name, other in same.items():
        front, _, last = name.rpartition(".")
        if front:
            input_term(front)._u_attrs[last] = input_term(other)
        else:
            roots[name] = input_term(other)
    return roots


def shared_names(old: Subject, new: Subject) -> dict[str, Any]:
    """What stands for each parameter of the new callable that the old one does not have."""
    theirs, mine = old.roots(), new.roots()
    extra = [name for name in mine if name not in theirs]
    left = [name for name in theirs if name not in mine]
    if extra and len(theirs) == len(mine) and len(extra) == len(left):
        positions = {name: theirs[mine.index(name)] for name in extra}
        if sorted(positions.values()) == sorted(left):
            return {name: term(ROOT, other) for name, other in positions.items()}
    if not extra or not old.is_bound() or _has_instance(new):
        return {}
    root = term(ROOT, "self")
    owner = (old.owner.name if old.owner is not None else "").lower()
    bound = _as_called(old, new)
    found: dict[str, Any] = {}
    for name in extra:
        if bound.get(name, _UNKNOWN) is not _UNKNOWN:
            found[name] = bound[name]
        elif name == "self" or name.replace("_", "") == owner:
            found[name] = root
        else:
            found[name] = attribute(root, name.lstrip("_"))
    return found


def certain_of(old: Subject, new: Subject) -> Certain:
    """Which attributes of the inputs are surely there. Parameters of the same name are one input."""
    types: dict[str, tuple[str, ast.expr]] = {}
    for side in (new, old):
        for each in side.parameters():
            if each.annotation is not None:
                types.setdefault(each.arg, (side.module, each.annotation))
    owner: Target | None = None
    if new.owner is not None:
        owner = Target("class", new.module, new.owner.name, new.owner)
    elif old.owner is not None:
        module, _, name = old.loader.twins.original(f"{old.module}:{old.owner.name}").partition(":")
        found = new.loader.side.resolve(module, name)
        owner = found if isinstance(found.node, ast.ClassDef) else None
    return Certain(new.loader.side, owner, old.node.name, types)


def _has_instance(subject: Subject) -> bool:
    return subject.is_bound() and "classmethod" not in subject.decorators


def _as_called(old: Subject, new: Subject) -> dict[str, Any]:
    """What the methods of the class give now, where all their calls give the same."""
    found: dict[str, Any] = {}
    for call in _calls(old, new):
        for name, value in _given(call, new).items():
            given = _value(value)
            if name in found and found[name] is not given:
                given = _UNKNOWN
            found[name] = given
    return found


def _calls(old: Subject, new: Subject) -> Iterator[ast.Call]:
    """Calls of the new callable in the class that the old one is in, on the new side."""
    twins = old.loader.twins
    assert old.owner is not None
    key = twins.original(f"{old.module}:{old.owner.name}")
    module, _, name = key.partition(":")
    if twins.new.facts(module) is None:
        return
    owner = twins.new.definition(module, name)[0]
    for node in ast.walk(owner) if owner is not None else ():
        if isinstance(node, ast.Call):
            function = node.func
            called = function.attr if isinstance(function, ast.Attribute) else getattr(function, "id", "")
            if called == new.node.name:
                yield node


def _given(call: ast.Call, new: Subject) -> dict[str, ast.expr]:
    if any(isinstance(each, ast.Starred) for each in call.args) or any(each.arg is None for each in call.keywords):
        return {}
    given = dict(zip(new.roots(), call.args, strict=False))
    given.update({each.arg: each.value for each in call.keywords if each.arg is not None})
    return given


def _value(node: ast.expr) -> Any:
    """`self.a.b` as its term, a constant as itself."""
    if isinstance(node, ast.Constant) and (node.value is None or isinstance(node.value, str | int | float | bool)):
        return node.value
    path: list[str] = []
    while isinstance(node, ast.Attribute):
        path.append(node.attr)
        node = node.value
    if not isinstance(node, ast.Name) or node.id != "self":
        return _UNKNOWN
    found = term(ROOT, "self")
    for name in reversed(path):
        found = attribute(found, name)
    return found
