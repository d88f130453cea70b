"""Where a named object lives in the tree: a class, a function or value, a module, or something outside.

Follows imports, re-exports, star imports and module-level aliases over the facts of files (class_facts.py), so that no
file is read with scopes for it."""

from __future__ import annotations

import ast
from collections.abc import Callable, Iterable, Iterator
from typing import TypeVar, cast

from msgspec import Struct

from codemods.schema.refs import DefRef
from codemods.source.class_facts import ClassFact, facts_of
from codemods.source.class_names import Target, targets
from codemods.source.files import FileSet
from codemods.source.imports import Origin
from codemods.source.modules import modules_of
from codemods.source.parse import Source
from codemods.source.scopes import Scope

_DEEPEST = 16  # re-export chains longer than this are cycles


class ClassKey(Struct, frozen=True, order=True):
    """A class of the tree by its home. A class in a function is `f.<locals>.C`."""

    module: str
    qualname: str

    @property
    def name(self) -> str:
        return self.qualname.rpartition(".")[2]

    @property
    def ref(self) -> DefRef:
        return DefRef(self.module, self.qualname)

    def __str__(self) -> str:
        return f"{self.module}:{self.qualname}"


class External(Struct, frozen=True):
    """A class that is not in the tree ("dict", "torch.nn.Module"), or, when not `is_known`, an expression that does not
    tell which class it is."""

    name: str
    is_known: bool = True


Base = ClassKey | External


_T = TypeVar("_T")


def memo(files: FileSet, kind: str, key: object, make: Callable[[], _T]) -> _T:
    """A fact kept with the set of files it was computed from."""
    kept = cast("dict[object, _T]", files.notes.setdefault(f"classes.{kind}", {}))
    if key not in kept:
        kept[key] = make()
    return kept[key]


def exists(files: FileSet, key: ClassKey) -> bool:
    return bool(facts_at(files, key))


def facts_at(files: FileSet, key: ClassKey) -> tuple[ClassFact, ...]:
    """What the statements of a class say; () when there is no such class."""
    path = modules_of(files).path_of(key.module)
    return facts_of(files, path).classes.get(key.qualname, ()) if path is not None else ()


def resolve_class(files: FileSet, source: Source, node: ast.expr, scope: Scope) -> tuple[Base, ...]:
    """The classes that an expression may name. An expression that names something else gives an External that is not
    `is_known`; several results are alternatives."""
    return as_classes(resolve(files, source, node, scope))


def resolve(files: FileSet, source: Source, node: ast.expr, scope: Scope) -> tuple[Base | Origin, ...]:
    """As `resolve_class`, with the home of functions, values and modules of the tree as Origin."""
    return tuple(dict.fromkeys(each for one in targets(files, source, node, scope) for each in objects(files, one)))


def as_classes(found: Iterable[Base | Origin]) -> tuple[Base, ...]:
    """Homes as classes: whatever else the tree has there is an External that is not `is_known`."""
    return tuple(External(str(each), is_known=False) if isinstance(each, Origin) else each for each in found)


def objects(files: FileSet, target: Target) -> tuple[Base | Origin, ...]:
    """The homes of a named object, through re-exports and module-level aliases; several are alternatives."""
    return memo(files, "target", target, lambda: tuple(dict.fromkeys(_objects(files, target, _DEEPEST))))


def _objects(files: FileSet, target: Target, depth: int) -> Iterator[Base | Origin]:
    modules = modules_of(files)
    module, parts = target.module, target.path.split(".") if target.path else []
    text = f"{module}.{target.path}".strip(".")
    if not module or depth == 0:
        yield External(text, is_known=False)
        return
    if module == "builtins":
        yield External(target.path)
        return
    while True:
        path = modules.path_of(module)
        if path is None and not modules.is_package_directory(module):
            yield External(".".join([module, *parts]))
            return
        if not parts:
            yield Origin(module, "")
            return
        facts = facts_of(files, path) if path is not None else None
        if facts is not None and ".".join(parts) in facts.classes:
            yield ClassKey(module, ".".join(parts))
            return
        if facts is not None and parts[0] in facts.bound:
            yield from _through(files, facts.bound[parts[0]], module, parts, depth)
            return
        star = (
            next((each for each in facts.stars if _binds(files, each, parts[0])), None) if facts is not None else None
        )
        if star is not None:
            module = star
        elif modules.path_of(f"{module}.{parts[0]}") or modules.is_package_directory(f"{module}.{parts[0]}"):
            module, parts = f"{module}.{parts[0]}", parts[1:]
        else:
            yield External(text, is_known=False)
            return


def _through(
    files: FileSet, meant: tuple[Target, ...], module: str, parts: list[str], depth: int
) -> Iterator[Base | Origin]:
    for each in meant:
        if (each.module, each.path) != (module, parts[0]):
            deeper = Target(each.module, ".".join([*([each.path] if each.path else []), *parts[1:]]))
            yield from _objects(files, deeper if each.module else each, depth - 1)
        elif len(parts) == 1:
            yield Origin(module, parts[0])
        else:
            yield External(f"{module}.{'.'.join(parts)}", is_known=False)


def _binds(files: FileSet, module: str, name: str, seen: tuple[str, ...] = ()) -> bool:
    path = modules_of(files).path_of(module)
    if path is None or module in seen:
        return False
    facts = facts_of(files, path)
    return name in facts.bound or any(_binds(files, star, name, (*seen, module)) for star in facts.stars)
