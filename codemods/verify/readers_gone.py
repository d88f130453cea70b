"""What a change takes away: members of classes, names of modules, whole modules, and signatures that calls may not fit.

Reads the changed files of both sides and the bases of changed classes; who still reads what is gone is not asked here.
A class that only moved is compared with itself at its new place."""

from __future__ import annotations

import re
from collections.abc import Iterator

from msgspec import Struct

from codemods.source import foreign
from codemods.source.classes import ClassKey, has_dynamic_lookup, mro
from codemods.source.files import FileSet
from codemods.source.module_facts import module_facts
from codemods.source.modules import modules_of
from codemods.verify.change import TreeChange
from codemods.verify.readers_inventory import ClassInventory, Inventory, inventory
from codemods.verify.readers_signatures import Signature

# Names that come into a module by code, or another object in its place.
_MADE_BY_CODE = re.compile(
    rb"\bglobals\(\)\s*(?:\[[^\]\n]+\]\s*=|\.(?:update|setdefault)\b)|\bsys\.modules\[__name__\]"
)
_SILENT_EXTERNAL = frozenset({"object", "abc.ABC", "typing.Generic", "typing.Protocol", "enum.Enum"})


class GoneMember(Struct, frozen=True):
    """An attribute, method or field that a class of the new tree no longer has, by itself or by a base.

    key: the class where it is now; path: its file. kind: as in Held. on_class: the class object itself had it."""

    key: ClassKey
    path: str
    name: str
    kind: str
    on_class: bool


class GoneName(Struct, frozen=True):
    """A module-level name that can no longer be taken from the module at `path`. is_for_types: type checkers can."""

    path: str
    module: str
    name: str
    kind: str
    is_for_types: bool = False


class GoneModule(Struct, frozen=True):
    """A module of the old tree that no file of the new tree is."""

    path: str
    module: str


class Refit(Struct, frozen=True):
    """A callable whose signature changed so that calls that fitted may not fit any more.

    key: the class it belongs to; None for a function. Constructors made from fields count as `__init__`."""

    path: str
    module: str
    key: ClassKey | None
    name: str
    before: Signature
    after: Signature


class Gone(Struct, frozen=True):
    members: tuple[GoneMember, ...]
    names: tuple[GoneName, ...]
    modules: tuple[GoneModule, ...]
    refits: tuple[Refit, ...]


class _Pair(Struct, frozen=True):
    """One class on both sides; `path` is the new file."""

    path: str
    old_path: str
    old: ClassInventory
    new: ClassInventory


def gone_in(change: TreeChange) -> Gone:
    """Everything the change takes away. Files that do not parse count as unchanged."""
    pairs = list(_pairs(change))
    return Gone(
        tuple(each for pair in pairs for each in _members(change, pair)),
        tuple(_names(change)),
        tuple(_modules(change)),
        tuple(_refits(change, pairs)),
    )


def _pairs(change: TreeChange) -> Iterator[_Pair]:
    paths = [each.path for each in change.changes if each.path.endswith(".py")]
    arrived: dict[str, list[tuple[str, ClassInventory]]] = {}
    for path in paths:
        before = inventory(change.old, path).classes
        for qualname, found in inventory(change.new, path).classes.items():
            if qualname not in before:
                arrived.setdefault(found.name, []).append((path, found))
    for path in paths:
        after = inventory(change.new, path).classes
        for qualname, old in inventory(change.old, path).classes.items():
            if qualname in after:
                yield _Pair(path, path, old, after[qualname])
            elif len(arrived.get(old.name, [])) == 1:
                yield _Pair(arrived[old.name][0][0], path, old, arrived[old.name][0][1])


# -- members


def _members(change: TreeChange, pair: _Pair) -> Iterator[GoneMember]:
    lost = [name for name in sorted(pair.old.names - pair.new.names) if not name.startswith("__")]
    if not lost or pair.new.is_open or pair.new.decorators - pair.old.decorators:
        return  # a new decorator may give what the class had before
    key = ClassKey(modules_of(change.new).module_of(pair.path), pair.new.qualname)
    for name in lost:
        if not has_member(change.new, key, name):
            held = pair.old.members.get(name)
            yield GoneMember(key, pair.path, name, held.kind if held else "attribute", held is not None)


def has_member(files: FileSet, key: ClassKey, name: str) -> bool:
    """Whether an instance has the member, or may have it: by the class, by a base, by code, by a base nobody knows."""
    order = mro(files, key)
    modules = modules_of(files)
    for each in order.classes:
        path = modules.path_of(each.module)
        found = inventory(files, path).classes.get(each.qualname) if path is not None else None
        if found is not None and (found.is_open or name in found.names):
            return True
    if has_dynamic_lookup(files, key):
        return True
    for outer in order.external:
        known = foreign.defines(outer.name, name)
        if known or (known is None and outer.name not in _SILENT_EXTERNAL):
            return True
    return False


# -- names and modules


def _names(change: TreeChange) -> Iterator[GoneName]:
    modules = modules_of(change.new)
    for each in change.changes:
        if not each.path.endswith(".py") or each.before is None or each.after is None:
            continue
        old, new = inventory(change.old, each.path), inventory(change.new, each.path)
        if _MADE_BY_CODE.search(each.after) or "__getattr__" in new.bound:
            continue
        if not new.bound and not new.classes and each.after.strip():
            continue
        is_package = each.path.endswith("/__init__.py")
        module = modules.module_of(each.path)
        hidden = new.typing_only - old.typing_only
        for name in sorted((set(old.bound) - set(new.bound)) | (hidden & set(old.bound))):
            if name.startswith("__") or (new.stars and _comes_by_star(change.new, each.path, name)):
                continue
            inner = f"{module}.{name}"
            if is_package and (modules.path_of(inner) is not None or modules.is_package_directory(inner)):
                continue
            yield GoneName(each.path, module, name, old.bound[name].kind, is_for_types=name in hidden)


def _comes_by_star(files: FileSet, path: str, name: str) -> bool:
    """Whether a star import may bring the name; a star of a module outside the tree may bring anything."""
    return name in star_names(files, path, frozenset()) or None in star_names(files, path, frozenset())


def star_names(files: FileSet, path: str, seen: frozenset[str]) -> set[str | None]:
    """The public names that star imports bring into a file; None stands for those of a module outside the tree."""
    modules = modules_of(files)
    found: set[str | None] = set()
    for star in module_facts(files, path).stars:
        other = modules.path_of(star, near=path)
        if other is None:
            found.add(None)
        elif other not in seen:
            inner = inventory(files, other)
            public = inner.exported or {name: 0 for name in inner.bound if not name.startswith("_")}
            found |= set(public)
            found |= star_names(files, other, seen | {path}) if inner.stars else set()
    return found


def _modules(change: TreeChange) -> Iterator[GoneModule]:
    for each in change.changes:
        if each.after is None and each.path.endswith(".py"):
            after = modules_of(change.new)
            module = modules_of(change.old).module_of(each.path)
            if after.path_of(module) is None and not (after.is_package_directory(module) and not each.before):
                yield GoneModule(each.path, module)


# -- signatures


def _refits(change: TreeChange, pairs: list[_Pair]) -> Iterator[Refit]:
    modules = modules_of(change.new)
    for each in change.changes:
        if not each.path.endswith(".py"):
            continue
        old, new = inventory(change.old, each.path), inventory(change.new, each.path)
        for name, held in new.bound.items():
            if held.kind == "function" and _may_break(_signature(old, name), held.signature):
                before = old.bound[name].signature
                assert before is not None and held.signature is not None
                yield Refit(each.path, modules.module_of(each.path), None, name, before, held.signature)
    for pair in pairs:
        module = modules.module_of(pair.path)
        key = ClassKey(module, pair.new.qualname)
        for name, held in pair.new.members.items():
            before = pair.old.members[name].signature if name in pair.old.members else None
            if before is not None and held.signature is not None and _may_break(before, held.signature):
                yield Refit(pair.path, module, key, name, before, held.signature)
        if "__init__" not in pair.new.members and _may_break(pair.old.record, pair.new.record):
            assert pair.old.record is not None and pair.new.record is not None
            yield Refit(pair.path, module, key, "__init__", pair.old.record, pair.new.record)


def _signature(found: Inventory, name: str) -> Signature | None:
    return found.bound[name].signature if name in found.bound and found.bound[name].kind == "function" else None


def _may_break(before: Signature | None, after: Signature | None) -> bool:
    """Whether some call that fitted does not fit now."""
    if before is None or after is None or before == after:
        return False
    if after.required - before.required:
        return True
    if before.positional[: len(after.positional)] != after.positional[: len(before.positional)]:
        return True
    names = {*before.positional[before.posonly :], *before.keyword}
    known = {*after.positional[after.posonly :], *after.keyword}
    if (names - known or before.has_kwargs) and not after.has_kwargs:
        return True
    return not after.has_args and (before.has_args or len(after.positional) < len(before.positional))
