"""Where an attribute or method of a class is used in the tree, with everything that shares the name with it by descent.

Other than method_sites.py it also knows attributes that only methods assign, and takes overrides and declarations in
bases as one thing: `owners`. Text that names the attribute is strings.py's."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from enum import Enum
from functools import cached_property

from msgspec import Struct

from codemods.source import foreign
from codemods.source.class_facts import facts_of
from codemods.source.classes import (
    ClassKey,
    class_at,
    definers,
    dynamic_lookup,
    is_in_family,
    mro,
    resolve_class,
)
from codemods.source.files import FileSet
from codemods.source.glimpse import glimpse
from codemods.source.homes import memo
from codemods.source.index import has_word, mentioning
from codemods.source.members import assignments_in, has_unknown_bases, self_name
from codemods.source.mentions import Mention, attributes, may_bind, num_definitions, sets_attribute
from codemods.source.module_facts import module_facts
from codemods.source.modules import modules_of
from codemods.source.parse import DEFINITIONS, Source, light_tree
from codemods.source.receiver_kinds import ClassObject, Known, Unknown
from codemods.source.receivers import receiver_type, scope_at

# Objects that get their attributes by keyword or by text.
_LOOSE_MAKERS = (b"SimpleNamespace", b"Namespace", b"Mock", b"MagicMock", b"namedtuple", b"make_dataclass")


class Sure(Enum):
    YES = "yes"
    PERHAPS = "perhaps"
    DOUBLE = "a test double"


class Access(Enum):
    READ = "read"
    WRITE = "write"
    UPDATE = "update"
    DELETE = "delete"
    PATTERN = "pattern"  # `case Class(name=x)`


class AttributeSite(Struct, frozen=True, eq=False):
    """One use. start:end is the name's own text. `source` may be a glimpse of the file (its offsets are true)."""

    source: Source
    node: ast.AST
    start: int
    end: int
    sure: Sure
    access: Access
    reason: str

    @property
    def path(self) -> str:
        return self.source.path

    @property
    def line(self) -> int:
        return self.source.text.line_of(self.start)


class AttributeSites(Struct, frozen=True, eq=False):
    """`owners`: the class and all others, above, below and beside it, whose body or methods bind the name."""

    owners: tuple[ClassKey, ...]
    sites: tuple[AttributeSite, ...]
    is_unique: bool


def attribute_sites(files: FileSet, key: ClassKey, name: str) -> AttributeSites:
    """Every `.name` of the tree that is, or may be, the attribute of the class. Raises Unparsable."""
    search = _Search(files, key, name)
    found = [site for path in mentioning(files, name) for site in search.in_file(path)]
    found.sort(key=lambda site: (site.path, site.start))
    return AttributeSites(tuple(sorted(search.owners)), tuple(found), search.is_unique)


def bearers(files: FileSet, name: str) -> frozenset[ClassKey]:
    """Every class of the tree whose body or methods bind the name."""
    return memo(files, "bearers", name, lambda: frozenset({*definers(files, name), *_setters(files, name)}))


def _setters(files: FileSet, name: str) -> Iterator[ClassKey]:
    """Classes whose methods set the attribute, through their first parameter or by `setattr`."""
    word = name.encode()
    by_text = re.compile(rb"\bsetattr\(\s*\w+\s*,\s*['\"]" + re.escape(word) + rb"['\"]")
    for path in mentioning(files, name):
        raw = files.read(path)
        module = modules_of(files).module_of(path)
        if sets_attribute(raw, word):
            yield from (ClassKey(module, use.classes) for use in _uses(files, path, name) if use.is_self and use.is_set)
        if by_text.search(raw):
            for qualname in facts_of(files, path).classes:
                key = ClassKey(module, qualname)
                located = class_at(files, key, name)
                if located is not None and assignments_in(*located, key, name):
                    yield key


class _Use(Struct, frozen=True):
    """One `.name` as far as the tree alone tells. is_plain: `self` is what it is in the whole method."""

    classes: str
    is_self: bool
    is_plain: bool
    is_set: bool


def _uses(files: FileSet, path: str, name: str) -> tuple[_Use, ...]:
    """The uses of a file, from one parse without scopes."""

    def read() -> tuple[_Use, ...]:
        found = []
        for mention in attributes(*light_tree(files, path), name):
            is_self = _is_self(mention)
            is_set = isinstance(mention.node.ctx, ast.Store)
            found.append(_Use(mention.classes, is_self, is_self and _is_plain_self(mention), is_set))
        return tuple(found)

    return memo(files, "attribute uses", (path, name), read)


def _is_self(mention: Mention) -> bool:
    """Whether the receiver is the first parameter of the method around, so that its class is known without scopes."""
    if mention.method is None or not isinstance(mention.node.value, ast.Name):
        return False
    return mention.node.value.id == self_name(mention.method)


def owners_of(files: FileSet, key: ClassKey, name: str) -> frozenset[ClassKey]:
    """The classes that bind the name and are related to the class, directly or through one another."""
    having = bearers(files, name)
    found = {key}
    waiting = [key]
    while waiting:
        at = waiting.pop()
        for other in having - found:
            if is_in_family(files, at, other):
                found.add(other)
                waiting.append(other)
    return frozenset(found)


_Judgement = tuple[Sure, str]


class _Search:
    def __init__(self, files: FileSet, key: ClassKey, name: str) -> None:
        self.files, self.key, self.name = files, key, name
        self.bearers = bearers(files, name)
        self.owners = owners_of(files, key, name)
        self.dotted = re.compile(rb"\.[\s\\]*" + re.escape(name.encode()) + rb"\b")
        self.in_pattern = re.compile(rb"\bcase\b[^\n]*\b" + re.escape(name.encode()) + rb"\s*=")
        self.judged: dict[tuple[ClassKey, bool], _Judgement | None] = {}

    def in_file(self, path: str) -> Iterator[AttributeSite]:
        raw = self.files.read(path)
        if self.dotted.search(raw) and not self.is_elsewhere(path):
            source = glimpse(self.files, path, self.name)
            for mention in attributes(source.text, source.tree, self.name):
                judgement = self.judge(source, mention)
                if judgement is not None:
                    end = source.end(mention.node)
                    start = end - len(self.name.encode())
                    access = _access(source, mention.node)
                    yield AttributeSite(source, mention.node, start, end, judgement[0], access, judgement[1])
        if self.in_pattern.search(raw):
            yield from self.patterns(glimpse(self.files, path, self.name))

    def is_elsewhere(self, path: str) -> bool:
        """Whether every use in a file is `self.name` of a class that has nothing to do with ours."""
        module = modules_of(self.files).module_of(path)
        uses = _uses(self.files, path, self.name)
        return all(use.is_plain and self.of_self(module, use.classes) is None for use in uses)

    def of_self(self, module: str, classes: str) -> _Judgement | None:
        return self.of_class(ClassKey(module, classes), is_exact=False)

    def patterns(self, source: Source) -> Iterator[AttributeSite]:
        for node in ast.walk(source.tree):
            if not isinstance(node, ast.MatchClass) or self.name not in node.kwd_attrs:
                continue
            named = resolve_class(self.files, source, node.cls, scope_at(source, node))
            keys = [each for each in named if isinstance(each, ClassKey)]
            judgement = self.of_class(keys[0], is_exact=False) if keys else None
            if judgement is None:
                continue
            value = source.start(node.kwd_patterns[node.kwd_attrs.index(self.name)])
            before = source.body[source.start(node) : value]
            start = source.start(node) + before.rindex(self.name.encode())
            end = start + len(self.name.encode())
            yield AttributeSite(source, node, start, end, judgement[0], Access.PATTERN, judgement[1])

    # -- one receiver

    def judge(self, source: Source, mention: Mention) -> _Judgement | None:
        receiver = mention.node.value
        if isinstance(receiver, ast.Call) and getattr(receiver.func, "id", "") == "super":
            around = ClassKey(modules_of(self.files).module_of(source.path), mention.classes)
            is_ours = mention.classes and any(is_in_family(self.files, owner, around) for owner in self.owners)
            return (Sure.YES, "behind a class of the family") if is_ours else None
        if _is_self(mention) and _is_plain_self(mention):
            return self.of_self(modules_of(self.files).module_of(source.path), mention.classes)
        what = receiver_type(self.files, source, receiver)
        if isinstance(what, ClassObject):
            return self.of_class(what.key, is_exact=what.is_exact)
        if isinstance(what, Known):
            each = [self.of_class(key, is_exact=what.is_exact) for key in what.keys]
            found = [judgement for judgement in each if judgement is not None]
            if found and (len(found) < len(each) or any(sure is not Sure.YES for sure, _ in found)):
                return Sure.PERHAPS, "the receiver may be of another class"
            return found[0] if found else None
        return self.of_unknown(what.why, is_double=what.is_double) if isinstance(what, Unknown) else None

    def of_class(self, key: ClassKey, *, is_exact: bool) -> _Judgement | None:
        if (key, is_exact) not in self.judged:
            self.judged[key, is_exact] = self._of_class(key, is_exact=is_exact)
        return self.judged[key, is_exact]

    def _of_class(self, key: ClassKey, *, is_exact: bool) -> _Judgement | None:
        above = [each for each in mro(self.files, key).classes if each in self.bearers]
        if above:
            is_ours = any(each in self.owners for each in above)
            return (Sure.YES, f"the receiver is a {key.name}") if is_ours else None
        if not is_exact and any(is_in_family(self.files, owner, key) for owner in self.owners):
            others = [each for each in self.bearers - self.owners if key in mro(self.files, each).classes]
            if others:
                return Sure.PERHAPS, f"a {key.name} may also be a {others[0].name}"
            return Sure.YES, f"only heirs of {key.name} that belong to the family have a {self.name}"
        if any(foreign.defines(each.name, self.name) for each in mro(self.files, key).external):
            return None
        if any(hook.endswith(("__getattr__", "__getattribute__")) for hook in dynamic_lookup(self.files, key)):
            return Sure.PERHAPS, f"{key.name} looks attributes up elsewhere"
        if has_unknown_bases(self.files, key):
            return None
        return self.of_unknown(f"{key.name} itself has no {self.name}", is_double=False)

    def of_unknown(self, why: str, *, is_double: bool) -> _Judgement:
        if is_double:
            return Sure.DOUBLE, "the receiver is a test double"
        if self.is_unique:
            return Sure.YES, f"nothing else in the tree has a {self.name}"
        return Sure.PERHAPS, why

    # -- whether the name alone tells

    @cached_property
    def is_unique(self) -> bool:
        """Whether nothing in the tree but the owners makes an object with an attribute of that name."""
        if self.bearers - self.owners or self.name in foreign.common_members():
            return False
        word = self.name.encode()
        given = re.compile(rb"\b" + re.escape(word) + rb"[ \t]*=(?!=)|['\"]" + re.escape(word) + rb"['\"]")
        for path in mentioning(self.files, self.name):
            raw = self.files.read(path)
            if num_definitions(raw, word) and not self.defines_in_classes_only(path):
                return False
            if any(has_word(raw, maker) for maker in _LOOSE_MAKERS) and given.search(raw):
                return False
            if sets_attribute(raw, word) and not self.sets_own_only(path):
                return False
            if may_bind(raw, word) and self.name in module_facts(self.files, path).bound:
                return False  # a module is an object with such an attribute as well
        return not self.is_option

    def defines_in_classes_only(self, path: str) -> bool:
        """Whether every definition of the name stands in a class (which counts among the bearers already)."""
        source = glimpse(self.files, path, self.name)
        found = [node for node in ast.walk(source.tree) if isinstance(node, DEFINITIONS) and node.name == self.name]
        return all(isinstance(source.enclosing(node, *DEFINITIONS), ast.ClassDef) for node in found)

    def sets_own_only(self, path: str) -> bool:
        """Whether every assignment of `.name` in a file is to an object that is known to be one of ours."""
        source = glimpse(self.files, path, self.name)
        for mention in attributes(source.text, source.tree, self.name):
            if isinstance(mention.node.ctx, ast.Store):
                what = receiver_type(self.files, source, mention.node.value)
                keys = what.keys if isinstance(what, Known) else (what.key,) if isinstance(what, ClassObject) else ()
                if not keys or any(not set(mro(self.files, key).classes) & self.owners for key in keys):
                    return False
        return True

    @cached_property
    def is_option(self) -> bool:
        """Whether some argument parser makes an attribute of that name out of `--some-name`."""
        option = b"--" + self.name.replace("_", "-").encode()
        return any(option in self.files.read(path) for path in mentioning(self.files, "add_argument"))


def _is_plain_self(mention: Mention) -> bool:
    """Without an annotation of its own, and bound nowhere else in the method or in functions inside."""
    assert mention.method is not None
    name = self_name(mention.method)
    arguments = [*mention.method.args.posonlyargs, *mention.method.args.args]
    bound = [
        node
        for node in ast.walk(mention.method)
        if (isinstance(node, ast.Name) and node.id == name and isinstance(node.ctx, ast.Store))
        or (isinstance(node, ast.arg) and node.arg == name)
    ]
    return arguments[0].annotation is None and len(bound) == 1


def _access(source: Source, node: ast.Attribute) -> Access:
    if isinstance(node.ctx, ast.Store):
        return Access.UPDATE if isinstance(source.parents.get(node), ast.AugAssign) else Access.WRITE
    return Access.DELETE if isinstance(node.ctx, ast.Del) else Access.READ
