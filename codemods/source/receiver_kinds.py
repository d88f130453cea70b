"""The answers to "what is this expression": values only, and how alternatives of one name are united."""

from __future__ import annotations

from collections.abc import Iterable

from msgspec import Struct

from codemods.source.classes import Base, ClassKey


class Known(Struct, frozen=True):
    """An instance of one of these classes of the tree. is_exact: of the class itself, not of a subclass."""

    keys: tuple[ClassKey, ...]
    is_exact: bool = False

    @property
    def key(self) -> ClassKey:
        return self.keys[0]


class ClassObject(Struct, frozen=True):
    """A class of the tree itself. is_exact: False for `cls`, which may be a subclass."""

    key: ClassKey
    is_exact: bool = True


class ModuleObject(Struct, frozen=True):
    """A module of the tree."""

    module: str


class NotIn(Struct, frozen=True):
    """Something that is no instance of a class of the tree: a literal, a function, an object of an external class.

    element: what iterating gives; item: what subscripting gives (both for annotated containers). is_external: a name of
    a module or builtin from outside, not a value made from one."""

    what: str
    element: Receiver | None = None
    item: Receiver | None = None
    is_external: bool = False


class Unknown(Struct, frozen=True):
    """is_double: a mock, which stands in for an object of any class."""

    why: str
    is_double: bool = False


Receiver = Known | ClassObject | ModuleObject | NotIn | Unknown
NONE = NotIn("None")

_ANYTHING = frozenset({"object", "typing.Any", "typing_extensions.Any", "typing.Protocol", "typing.Generic"})


def instance_of(base: Base, *, is_exact: bool = False) -> Receiver:
    """What a value annotated with, or constructed from, this class is."""
    if isinstance(base, ClassKey):
        return Known((base,), is_exact=is_exact)
    if not base.is_known or base.name in _ANYTHING:
        return Unknown(f"{base.name} may be anything")
    if base.name.rpartition(".")[0] in {"unittest.mock", "mock"}:
        return Unknown("a test double", is_double=True)
    return NotIn(base.name)


def unite(alternatives: Iterable[Receiver]) -> Receiver:
    """One answer for several: classes are collected, None is left out, and one unknown makes all unknown."""
    found = list(dict.fromkeys(each for each in alternatives if each != NONE))
    if not found:
        return NONE
    if len(found) == 1:
        return found[0]
    unknown = next((each for each in found if isinstance(each, Unknown)), None)
    if unknown is not None:
        return unknown
    known = [each for each in found if isinstance(each, Known)]
    if len(known) == len(found):
        keys = tuple(dict.fromkeys(key for each in known for key in each.keys))
        return Known(keys, is_exact=all(each.is_exact for each in known))
    if all(isinstance(each, NotIn) for each in found):
        return NotIn(" or ".join(each.what for each in found if isinstance(each, NotIn)))
    return Unknown("several kinds of values")
