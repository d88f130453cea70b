"""What each method of a class reads, writes and calls on its own object, followed through calls of `self`.

A method's effects are those of every definition that an instance may have of it, overriding ones included. A method
that hands `self` to somebody else may touch anything: `is_open` says so."""

from __future__ import annotations

import ast
from collections import OrderedDict
from collections.abc import Iterable, Iterator

from msgspec import Struct

from codemods.source.classes import ClassKey, class_at, memo, mro, subclasses
from codemods.source.files import FileSet
from codemods.source.locate import flattened
from codemods.source.modules import modules_of
from codemods.source.nodes import walk
from codemods.source.parse import FUNCTIONS, Function, Source
from codemods.source.usage import WRITES, UseKind, self_uses

_KEEP = 512  # classes
_kept: OrderedDict[tuple[str, str, bytes], tuple[_Method, ...]] = OrderedDict()


class Effects(Struct, frozen=True):
    """Attributes by name. calls: names of methods called on `self`."""

    reads: frozenset[str] = frozenset()
    writes: frozenset[str] = frozenset()
    calls: frozenset[str] = frozenset()
    is_open: bool = False

    def with_(self, other: Effects) -> Effects:
        return Effects(
            self.reads | other.reads,
            self.writes | other.writes,
            self.calls | other.calls,
            self.is_open or other.is_open,
        )


def class_effects(files: FileSet, key: ClassKey) -> ClassEffects:
    """The effects of a class, made once a file set."""
    return memo(files, "class effects", key, lambda: ClassEffects(files, key))


class ClassEffects:
    """The effects of all methods that an instance of the class, or of a subclass, has from the tree."""

    def __init__(self, files: FileSet, key: ClassKey) -> None:
        self.own: dict[str, Effects] = {}
        self._reached: dict[str, Effects] = {}
        above = mro(files, key).classes
        below = [each for heir in subclasses(files, key) for each in mro(files, heir).classes if each not in above]
        for name, effects in _inherited(files, above):
            self.own.setdefault(name, effects)
        for method in _methods(files, dict.fromkeys(below)):
            self.own[method.name] = self.own.get(method.name, Effects()).with_(method.effects)

    def reach(self, name: str) -> Effects:
        """The effects of a method with those of everything it calls on `self`; nothing for what is no method."""
        if name not in self._reached:
            found = Effects()
            seen: set[str] = set()
            work = [name]
            while work:
                at = work.pop()
                if at not in seen and at in self.own:
                    seen.add(at)
                    found = found.with_(self.own[at])
                    # a method that is only named may be called by whoever gets it; an accessor runs when it is read
                    work += sorted((self.own[at].calls | self.own[at].reads) & self.own.keys())
            self._reached[name] = found
        return self._reached[name]

    def writers(self, attribute: str) -> list[str]:
        """Methods other than `__init__` that write an attribute themselves."""
        return [name for name, found in self.own.items() if name != "__init__" and attribute in found.writes]


def _inherited(files: FileSet, order: tuple[ClassKey, ...]) -> Iterator[tuple[str, Effects]]:
    """Each method as the order finds it, with those behind it as long as each calls the next by `super()`."""
    found: dict[str, Effects] = {}
    ended: set[str] = set()
    for method in _methods(files, dict.fromkeys(order)):
        name = method.name
        if name not in ended:
            found[name] = found.get(name, Effects()).with_(method.effects)
            if not method.calls_super:
                ended.add(name)
    yield from found.items()


class _Method(Struct, frozen=True):
    """What is kept of one method: a few names, not its tree."""

    name: str
    effects: Effects
    calls_super: bool


def _methods(files: FileSet, keys: Iterable[ClassKey]) -> Iterator[_Method]:
    for key in keys:
        path = modules_of(files).path_of(key.module)
        if path is None:
            continue
        content = (path, key.qualname, files.read(path))
        if content not in _kept:
            _kept[content] = tuple(_read(files, key))
            while len(_kept) > _KEEP:
                _kept.popitem(last=False)
        yield from _kept[content]


def _read(files: FileSet, key: ClassKey) -> Iterator[_Method]:
    at = class_at(files, key)
    if at is None:
        return
    source, node = at
    for statement in flattened(node.body):
        if isinstance(statement, FUNCTIONS):
            calls_super = b"super" in source.segment(statement) and any(
                isinstance(each, ast.Name) and each.id == "super" for each in walk(statement)
            )
            yield _Method(statement.name, _effects(source, statement), calls_super)


def _effects(source: Source, function: Function) -> Effects:
    if any(isinstance(each, ast.Name) and each.id == "staticmethod" for each in function.decorator_list):
        return Effects()
    uses = self_uses(source, function)
    return Effects(
        reads=frozenset(use.attribute for use in uses if use.kind in (UseKind.READ, UseKind.UPDATE)),
        writes=frozenset(use.attribute for use in uses if use.kind in WRITES or use.kind is UseKind.DELETE),
        calls=frozenset(use.attribute for use in uses if use.is_called),
        is_open=any(use.kind is UseKind.ESCAPE and not _only_asks(source, use.name) for use in uses),
    )


def _only_asks(source: Source, name: ast.Name) -> bool:
    """`isinstance(self, …)`, `self is other`: nobody gets hold of the object."""
    above = source.parents[name]
    if isinstance(above, ast.Compare):
        return all(isinstance(each, (ast.Is, ast.IsNot)) for each in above.ops)
    return isinstance(above, ast.Call) and getattr(above.func, "id", "") in {"isinstance", "type", "id", "callable"}
