"""Who derives from whom in a tree: bases, method resolution order, subclasses, who overrides and who declares a member.

Follows names through imports, aliases and re-exports; a base that is a call or comes from outside is an External.
Classes made by calling type() are not seen. What a class body and its methods hold is members.py's."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterable, Iterator, Sequence
from typing import cast

from msgspec import Struct

from codemods.source import foreign
from codemods.source.class_facts import facts_of
from codemods.source.class_headers import heirs_by_text
from codemods.source.class_names import Target, class_nodes, member_name
from codemods.source.files import FileSet
from codemods.source.glimpse import glimpse
from codemods.source.homes import (
    Base,
    ClassKey,
    External,
    as_classes,
    exists,
    facts_at,
    memo,
    objects,
    resolve,
    resolve_class,
)
from codemods.source.index import mentioning
from codemods.source.mentions import may_bind
from codemods.source.modules import modules_of
from codemods.source.parse import Source, load
from codemods.source.scopes import Scope

__all__ = [
    "Base",
    "ClassKey",
    "External",
    "Mro",
    "bases",
    "class_at",
    "declarers",
    "definers",
    "defines",
    "dynamic_lookup",
    "exists",
    "family",
    "has_dynamic_lookup",
    "heirs_where",
    "is_in_family",
    "is_subclass",
    "key_of",
    "memo",
    "mro",
    "names_of",
    "overriders",
    "provider",
    "resolve",
    "resolve_class",
    "subclasses",
]  # fmt: skip

_HOOKS = ("__getattr__", "__getattribute__", "__setattr__", "__delattr__")


class Mro(Struct, frozen=True):
    """Linearization of a class, itself first. is_consistent: False when Python itself would refuse the bases."""

    order: tuple[Base, ...]
    is_consistent: bool = True

    @property
    def classes(self) -> tuple[ClassKey, ...]:
        return tuple(each for each in self.order if isinstance(each, ClassKey))

    @property
    def external(self) -> tuple[External, ...]:
        return tuple(each for each in self.order if isinstance(each, External))


def key_of(files: FileSet, source: Source, node: ast.ClassDef, scope: Scope) -> ClassKey:
    """The key of a class statement that stands in `scope`."""
    return ClassKey(modules_of(files).module_of(source.path), member_name(scope, node.name))


def class_at(files: FileSet, key: ClassKey, word: str = "") -> tuple[Source, ast.ClassDef] | None:
    """The file and the (first) statement of a class; None when there is none.

    word: for questions about this one name the file is read only as far as it mentions it (glimpse.py)."""
    path = modules_of(files).path_of(key.module)
    if path is None:
        return None
    if key.qualname not in facts_of(files, path).classes:
        return None
    source = glimpse(files, path, word) if word else load(files, path)
    return next(
        ((source, node) for node, scope in class_nodes(source) if member_name(scope, node.name) == key.qualname), None
    )


def bases(files: FileSet, key: ClassKey) -> tuple[Base, ...]:
    """Direct bases in order. Where a base's name is bound in several ways, every alternative is listed."""
    found: dict[Base, None] = {}
    for fact in facts_at(files, key):
        for alternatives in fact.bases:
            found.update(dict.fromkeys(base for each in alternatives for base in as_classes(objects(files, each))))
    found.pop(key, None)
    return tuple(found)


def mro(files: FileSet, key: ClassKey) -> Mro:
    """The order in which Python looks up attributes (C3), external bases as leaves."""
    return memo(files, "mro", key, lambda: _mro(files, key, ()))


def _mro(files: FileSet, key: ClassKey, above: tuple[ClassKey, ...]) -> Mro:
    direct = [base for base in bases(files, key) if base not in above]
    lines: list[list[Base]] = []
    consistent = True
    for base in direct:
        if isinstance(base, ClassKey):
            inner = _mro(files, base, (*above, key))
            consistent = consistent and inner.is_consistent
            lines.append(list(inner.order))
        else:
            lines.append([base])
    merged = _merge([*lines, list(direct)])
    if merged is None:
        flat = dict.fromkeys(each for line in lines for each in line)
        return Mro((key, *flat), is_consistent=False)
    return Mro((key, *merged), is_consistent=consistent)


def _merge(lines: Sequence[Sequence[Base]]) -> list[Base] | None:
    """C3: the first head that is in nobody's tail, again and again; None when there is none."""
    pending = [list(line) for line in lines if line]
    merged: list[Base] = []
    while pending:
        head = next((line[0] for line in pending if not any(line[0] in other[1:] for other in pending)), None)
        if head is None:
            return None
        merged.append(head)
        pending = [rest for line in pending if (rest := [each for each in line if each != head])]
    return merged


def subclasses(files: FileSet, key: ClassKey) -> tuple[ClassKey, ...]:
    """Every class of the tree that derives from `key`, directly or not, sorted."""
    return memo(files, "subclasses", key, lambda: _subclasses(files, key))


def _subclasses(files: FileSet, key: ClassKey) -> tuple[ClassKey, ...]:
    found: set[ClassKey] = set()
    waiting = [key]
    while waiting:
        for each in _direct_subclasses(files, waiting.pop()):
            if each not in found and each != key:
                found.add(each)
                waiting.append(each)
    return tuple(sorted(found))


def _direct_subclasses(files: FileSet, key: ClassKey) -> list[ClassKey]:
    found: list[ClassKey] = []
    words = [key.name]
    modules = modules_of(files)
    for word in words:
        for path in mentioning(files, word):
            if not heirs_by_text(files.read(path), word.encode()).may_derive:
                continue
            facts = facts_of(files, path)
            words.extend(
                alias
                for alias, meant in facts.bound.items()
                if alias not in words and any(_leaf(each) in words and key in objects(files, each) for each in meant)
            )
            module = modules.module_of(path)
            for qualname, statements in facts.classes.items():
                alternatives = [each for fact in statements for base in fact.bases for each in base]
                if any(_leaf(each) in words and key in objects(files, each) for each in alternatives):
                    found.append(ClassKey(module, qualname))
    return found


def heirs_where(files: FileSet, key: ClassKey, pattern: re.Pattern[bytes]) -> list[ClassKey]:
    """The subclasses in files whose text has the pattern. The other files are not parsed for it, as far as texts tell
    who derives from whom."""
    if key in cast("dict[ClassKey, object]", files.notes.get("classes.subclasses", {})):
        return [each for each in subclasses(files, key) if _has(files, each, pattern)]
    modules = modules_of(files)
    words = [key.name]
    found: set[ClassKey] = set()
    for word in words:
        for path in mentioning(files, word):
            text = heirs_by_text(files.read(path), word.encode())
            if text.is_renamed:
                return [each for each in subclasses(files, key) if _has(files, each, pattern)]
            words.extend(name for name in text.names if name not in words)
            if text.names and pattern.search(files.read(path)):
                module = modules.module_of(path)
                keys = (ClassKey(module, qualname) for qualname in facts_of(files, path).classes)
                found.update(each for each in keys if each != key and is_subclass(files, each, key))
    return sorted(found)


def _has(files: FileSet, key: ClassKey, pattern: re.Pattern[bytes]) -> bool:
    path = modules_of(files).path_of(key.module)
    return path is not None and pattern.search(files.read(path)) is not None


def _leaf(target: Target) -> str:
    return target.path.rpartition(".")[2]


def defines(files: FileSet, key: ClassKey, name: str) -> bool:
    """Whether the class body itself binds `name` (method, attribute, property, nested class)."""
    return any(name in fact.names for fact in facts_at(files, key))


def provider(files: FileSet, key: ClassKey, name: str) -> Base | None:
    """Where an instance of exactly this class finds `name`; None when no class is known to bind it. A base that may or
    may not have it (from outside the tree) is passed over."""
    for each in mro(files, key).order:
        if isinstance(each, ClassKey):
            if defines(files, each, name):
                return each
        elif foreign.defines(each.name, name):
            return each
    return None


def definers(files: FileSet, name: str) -> Iterator[ClassKey]:
    """Every class of the tree whose body binds `name`, found file by file as they are asked for."""
    word = name.encode()
    for path in mentioning(files, name):
        if may_bind(files.read(path), word):
            module = modules_of(files).module_of(path)
            for qualname, statements in facts_of(files, path).classes.items():
                if any(name in fact.names for fact in statements):
                    yield ClassKey(module, qualname)


def overriders(files: FileSet, key: ClassKey, name: str) -> tuple[ClassKey, ...]:
    """Classes whose `name` comes before that of `key` for some subclass: subclasses, and mixins that a subclass puts
    first."""
    found: dict[ClassKey, None] = {}
    for each in _heirs_that_matter(files, key, name):
        for above in mro(files, each).classes:
            if above == key:
                break
            if defines(files, above, name):
                found[above] = None
    return tuple(found)


def declarers(files: FileSet, key: ClassKey, name: str) -> tuple[Base, ...]:
    """Classes that `key`'s `name` overrides: its bases, and what a subclass puts after it (removing `name` would let
    that one through)."""
    found: dict[Base, None] = {}
    for each in (key, *_heirs_that_matter(files, key, name)):
        order = mro(files, each).order
        for below in order[order.index(key) + 1 :] if key in order else ():
            if isinstance(below, ClassKey):
                is_declared = defines(files, below, name)
            else:
                is_declared = foreign.defines(below.name, name) is True
            if is_declared:
                found[below] = None
    return tuple(found)


def _heirs_that_matter(files: FileSet, key: ClassKey, name: str) -> tuple[ClassKey, ...]:
    """The subclasses, unless nothing but `key` and what it derives from could define `name` for them."""
    above = mro(files, key).classes
    has_others = name in foreign.common_members() or any(each not in above for each in definers(files, name))
    return subclasses(files, key) if has_others else ()


def family(files: FileSet, key: ClassKey) -> frozenset[ClassKey]:
    """The classes whose `self` may be an instance of `key`: subclasses, and everything they and `key` derive from."""
    return memo(files, "family", key, lambda: _family(files, key))


def _family(files: FileSet, key: ClassKey) -> frozenset[ClassKey]:
    heirs = (key, *subclasses(files, key))
    return frozenset(each for heir in heirs for each in mro(files, heir).classes)


def is_in_family(files: FileSet, key: ClassKey, other: ClassKey) -> bool:
    """Whether `other` is in `family(key)`; looks for subclasses only where the bases do not settle it."""
    known = cast("dict[ClassKey, frozenset[ClassKey]]", files.notes.get("classes.family", {})).get(key)
    if known is not None:
        return other in known
    is_above_or_below = other in mro(files, key).classes or key in mro(files, other).classes
    return is_above_or_below or other in family(files, key)


def is_subclass(files: FileSet, key: ClassKey, of: ClassKey) -> bool:
    """Whether `key` is `of` or derives from it."""
    return of in mro(files, key).order


def dynamic_lookup(files: FileSet, key: ClassKey) -> tuple[str, ...]:
    """Why reading an attribute may run code: "Class.__getattr__", "metaclass=M of Class"; () when it does not."""
    found: list[str] = []
    for each in mro(files, key).classes:
        found.extend(f"{each.name}.{hook}" for hook in _HOOKS if defines(files, each, hook))
        found.extend(
            f"metaclass={fact.metaclass} of {each.name}"
            for fact in facts_at(files, each)
            if fact.metaclass and fact.metaclass.rpartition(".")[2] not in {"ABCMeta", "EnumMeta", "EnumType"}
        )
    return tuple(found)


def has_dynamic_lookup(files: FileSet, key: ClassKey) -> bool:
    return bool(dynamic_lookup(files, key))


def names_of(keys: Iterable[Base]) -> str:
    """Classes in words, for a message."""
    return ", ".join(each.qualname if isinstance(each, ClassKey) else each.name for each in keys)
