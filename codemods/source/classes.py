"""Who derives from whom in a tree: bases, method resolution order, subclasses, who overrides and who declares a member.

Follows names through imports, aliases and re-exports; a base that is a call or comes from outside is an External.
Classes made by calling type() are not seen. What a class body and its methods hold is members.py's."""

from __future__ import annotations

import ast
import re
from collections.abc import Callable, Iterable, Sequence
from typing import TypeVar, cast

from msgspec import Struct

from codemods.schema.refs import DefRef
from codemods.source import foreign
from codemods.source.class_facts import ClassFact, facts_of
from codemods.source.class_names import Target, class_nodes, member_name, targets
from codemods.source.files import FileSet
from codemods.source.imports import Origin, origin
from codemods.source.index import mentioning
from codemods.source.modules import modules_of
from codemods.source.parse import Source, load
from codemods.source.scopes import Scope

_DEEPEST = 16
_LONGEST_HEADER = 2000  # bytes of a class statement from `class` to a base
_RENAMED = re.compile(rb"\s+as\s+\w")
_ALIAS = re.compile(rb"^\w+[ \t]*(?::[^=\n]*)?=[ \t]*[\w.]*\Z", re.MULTILINE)
_HOOKS = ("__getattr__", "__getattribute__", "__setattr__", "__delattr__")


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


_T = TypeVar("_T")


def memo(files: FileSet, kind: str, key: object, make: Callable[[], _T]) -> _T:
    """A fact kept with the set of files it was computed from."""
    kept = cast("dict[object, _T]", files.notes.setdefault(f"classes.{kind}", {}))
    if key not in kept:
        kept[key] = make()
    return kept[key]


def key_of(files: FileSet, source: Source, node: ast.ClassDef, scope: Scope) -> ClassKey:
    """The key of a class statement that stands in `scope`."""
    return ClassKey(modules_of(files).module_of(source.path), member_name(scope, node.name))


def class_at(files: FileSet, key: ClassKey) -> tuple[Source, ast.ClassDef] | None:
    """The file and the (first) statement of a class; None when there is none."""
    path = modules_of(files).path_of(key.module)
    if path is None:
        return None
    source = load(files, path)
    return next(
        ((source, node) for node, scope in class_nodes(source) if member_name(scope, node.name) == key.qualname), None
    )


def exists(files: FileSet, key: ClassKey) -> bool:
    return bool(_facts(files, key))


def _facts(files: FileSet, key: ClassKey) -> tuple[ClassFact, ...]:
    path = modules_of(files).path_of(key.module)
    return facts_of(files, path).classes.get(key.qualname, ()) if path is not None else ()


def resolve_class(files: FileSet, source: Source, node: ast.expr, scope: Scope) -> tuple[Base, ...]:
    """The classes that an expression may name. An expression that names something else gives an External that is not
    `is_known`; several results are alternatives."""
    return tuple(dict.fromkeys(resolve_target(files, each) for each in targets(files, source, node, scope)))


def resolve_target(files: FileSet, target: Target) -> Base:
    """The home of a named class, through re-exports and module-level aliases."""
    return memo(files, "target", target, lambda: _resolve(files, target, _DEEPEST))


def _resolve(files: FileSet, target: Target, depth: int) -> Base:
    text = f"{target.module}.{target.path}".strip(".")
    if target.module == "builtins":
        return External(target.path)
    if not target.module or depth == 0:
        return External(text, is_known=False)
    if _facts(files, ClassKey(target.module, target.path)):
        return ClassKey(target.module, target.path)
    at = Origin(target.module, "")
    parts = target.path.split(".") if target.path else []
    for index, part in enumerate(parts):
        if at.name:
            return External(text, is_known=False)
        at = _origin(files, at.module, part)
        if at.is_external:
            return External(".".join([str(at), *parts[index + 1 :]]))
        rest = ".".join(parts[index + 1 :])
        if at.name:
            found = _home(files, at, rest, depth)
            return found or External(text, is_known=False)
    return External(text, is_known=False)


def _home(files: FileSet, at: Origin, rest: str, depth: int) -> Base | None:
    """A class, or what a module-level alias of that name stands for; `rest` is looked up inside."""
    key = ClassKey(at.module, f"{at.name}.{rest}" if rest else at.name)
    if _facts(files, key):
        return key
    path = modules_of(files).path_of(at.module)
    aliases = facts_of(files, path).aliases.get(at.name, ()) if path is not None else ()
    for alias in aliases:
        if (alias.module, alias.path) != (at.module, at.name):
            inner = Target(alias.module, f"{alias.path}.{rest}".strip(".") if rest else alias.path)
            return _resolve(files, inner, depth - 1)
    return None


def _origin(files: FileSet, module: str, name: str) -> Origin:
    return memo(files, "origin", (module, name), lambda: origin(files, module, name))


def bases(files: FileSet, key: ClassKey) -> tuple[Base, ...]:
    """Direct bases in order. Where a base's name is bound in several ways, every alternative is listed."""
    found: dict[Base, None] = {}
    for fact in _facts(files, key):
        for alternatives in fact.bases:
            found.update(dict.fromkeys(resolve_target(files, each) for each in alternatives))
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
            if not _may_derive(files.read(path), word.encode()):
                continue
            facts = facts_of(files, path)
            words.extend(
                alias
                for alias, meant in facts.aliases.items()
                if alias not in words and any(resolve_target(files, each) == key for each in meant)
            )
            module = modules.module_of(path)
            for qualname, statements in facts.classes.items():
                alternatives = [each for fact in statements for base in fact.bases for each in base]
                if any(resolve_target(files, each) == key for each in alternatives):
                    found.append(ClassKey(module, qualname))
    return found


def _may_derive(text: bytes, word: bytes) -> bool:
    """Whether some class statement may have the word among its bases, or the file gives the word another name."""
    for match in re.finditer(rb"\b" + re.escape(word) + rb"\b", text):
        before = text[max(0, match.start() - _LONGEST_HEADER) : match.start()]
        head = before[before.rfind(b"class ") :] if b"class " in before else b""
        if b"(" in head and b":\n" not in head and b":\r" not in head:
            return True
        if _RENAMED.match(text, match.end()) or _ALIAS.search(before):
            return True
    return False


def defines(files: FileSet, key: ClassKey, name: str) -> bool:
    """Whether the class body itself binds `name` (method, attribute, property, nested class)."""
    return any(name in fact.names for fact in _facts(files, key))


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


def overriders(files: FileSet, key: ClassKey, name: str) -> tuple[ClassKey, ...]:
    """Classes whose `name` comes before that of `key` for some subclass: subclasses, and mixins that a subclass puts
    first."""
    found: dict[ClassKey, None] = {}
    for each in subclasses(files, key):
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
    for each in (key, *subclasses(files, key)):
        order = mro(files, each).order
        for below in order[order.index(key) + 1 :] if key in order else ():
            if isinstance(below, ClassKey):
                is_declared = defines(files, below, name)
            else:
                is_declared = foreign.defines(below.name, name) is True
            if is_declared:
                found[below] = None
    return tuple(found)


def family(files: FileSet, key: ClassKey) -> frozenset[ClassKey]:
    """The classes whose `self` may be an instance of `key`: subclasses, and everything they and `key` derive from."""
    return memo(files, "family", key, lambda: _family(files, key))


def _family(files: FileSet, key: ClassKey) -> frozenset[ClassKey]:
    heirs = (key, *subclasses(files, key))
    return frozenset(each for heir in heirs for each in mro(files, heir).classes)


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
            for fact in _facts(files, each)
            if fact.metaclass and fact.metaclass.rpartition(".")[2] not in {"ABCMeta", "EnumMeta", "EnumType"}
        )
    return tuple(found)


def has_dynamic_lookup(files: FileSet, key: ClassKey) -> bool:
    return bool(dynamic_lookup(files, key))


def names_of(keys: Iterable[Base]) -> str:
    """Classes in words, for a message."""
    return ", ".join(each.qualname if isinstance(each, ClassKey) else each.name for each in keys)
