"""Whether an object surely has an attribute when one of its methods starts: from its class, its fields, or `__init__`.

Asks for every class the object may be of. An attribute that a class from outside may bring is UNKNOWN, not absent; ones
that other code sets on the object do not count."""

from __future__ import annotations

import ast
import re
from enum import IntEnum

from codemods.source import foreign
from codemods.source.classes import ClassKey, External, class_at, defines, dynamic_lookup, memo, mro, subclasses
from codemods.source.construction import construction
from codemods.source.files import FileSet
from codemods.source.members import Member, MemberKind, has_unknown_bases, instance_attributes, members
from codemods.source.nodes import walk
from codemods.source.parse import FUNCTIONS
from codemods.source.usage import UseKind, self_uses

_RECORD_BASES = frozenset(
    {"typing.NamedTuple", "typing_extensions.NamedTuple", "msgspec.Struct", "pydantic.BaseModel"}
    | {"enum.Enum", "enum.IntEnum", "enum.StrEnum", "enum.Flag", "enum.IntFlag"}
)
_RECORD_MAKERS = frozenset({"dataclass", "define", "frozen", "mutable", "attrs", "s", "attributes"})
_INNATE = frozenset({"__class__", "__module__", "__doc__", "__dict__", "__weakref__"})
_DEL = re.compile(rb"\bdel\b")
_OF_ENUMS = frozenset({"name", "value", "_name_", "_value_"})  # descriptors that a class of enum does not show


class Presence(IntEnum):
    """From worst to best."""

    UNSURE = 0
    UNKNOWN = 1  # a class from outside the tree, or code that looks attributes up, may have it
    SURE = 2


def presence(files: FileSet, key: ClassKey, method: str, attribute: str) -> Presence:
    """The worst answer over the class and its subclasses."""
    return worst(files, key, method, attribute)[0]


def worst(files: FileSet, key: ClassKey, method: str, attribute: str) -> tuple[Presence, ClassKey]:
    """The worst answer, and the class that it is for."""
    return memo(files, "presence", (key, method, attribute), lambda: _worst(files, key, method, attribute))


def _worst(files: FileSet, key: ClassKey, method: str, attribute: str) -> tuple[Presence, ClassKey]:
    if attribute in _INNATE:
        return Presence.SURE, key
    heirs = subclasses(files, key)
    is_mixin = bool(heirs) and not _knows(files, key, attribute)  # then its subclasses bring the attribute
    found = [] if is_mixin else [(_in_class(files, key, method, attribute), key)]
    for heir in heirs:
        here = _in_class(files, heir, method, attribute)
        found.append((max(here, Presence.UNKNOWN) if _is_for_tests(heir) else here, heir))
    return min(found, key=lambda each: each[0])


def _is_for_tests(key: ClassKey) -> bool:
    """A stand-in written for tests: it has what its tests need, which says little about the class."""
    return any(part in {"test", "tests"} or part.startswith("test_") for part in key.module.split("."))


def _knows(files: FileSet, key: ClassKey, attribute: str) -> bool:
    is_defined = any(defines(files, each, attribute) for each in mro(files, key).classes)
    return is_defined or attribute in _assigned(files, key)


def _assigned(files: FileSet, key: ClassKey) -> frozenset[str]:
    return memo(files, "assigned", key, lambda: frozenset(instance_attributes(files, key)))


def _in_class(files: FileSet, key: ClassKey, method: str, attribute: str) -> Presence:
    if _from_body(files, key, attribute):
        return Presence.SURE
    made = memo(files, "surely set", (key, method), lambda: construction(files, key).surely_set(method))
    if attribute in made and not _is_deleted(files, key, attribute):
        return Presence.SURE
    for each in mro(files, key).external:
        if foreign.defines(each.name, attribute) or (attribute in _OF_ENUMS and each.name.startswith("enum.")):
            return Presence.SURE
    is_assigned = attribute in _assigned(files, key)
    if not is_assigned and (has_unknown_bases(files, key) or _looks_up_by_code(files, key) or _sets_any(files, key)):
        return Presence.UNKNOWN
    return Presence.UNSURE


def _from_body(files: FileSet, key: ClassKey, attribute: str) -> bool:
    """Whether some class of the order brings the attribute in its body: a member, a value, a field of a record."""
    is_own_init = False  # a class below has an `__init__` of its own, which may leave the fields out
    for each in mro(files, key).classes:
        at = class_at(files, each) if defines(files, each, attribute) else None
        member = members(files, *at).get(attribute) if at is not None else None
        if at is not None and member is not None and member.kind is not MemberKind.SLOT:
            is_value = member.kind is not MemberKind.FIELD and any(node in at[1].body for node in member.nodes)
            if not is_record(files, each):
                if is_value:
                    return True
            elif not is_own_init or (is_value and not isinstance(getattr(member.node, "value", None), ast.Call)):
                return not _is_left_out(member)
        is_own_init = is_own_init or defines(files, each, "__init__")
    return False


def is_record(files: FileSet, key: ClassKey) -> bool:
    """Whether annotated names in the class body become fields that its `__init__` sets."""
    at = class_at(files, key)
    if at is None:
        return False
    for decorator in at[1].decorator_list:
        named = decorator.func if isinstance(decorator, ast.Call) else decorator
        leaf = named.attr if isinstance(named, ast.Attribute) else getattr(named, "id", "")
        if leaf in _RECORD_MAKERS:
            return True
    return any(isinstance(each, External) and each.name in _RECORD_BASES for each in mro(files, key).order)


def _is_left_out(member: Member) -> bool:
    """`field(init=False)` without a default: the class does not set it."""
    value = getattr(member.node, "value", None)
    if not isinstance(value, ast.Call):
        return False
    given = {each.arg: each.value for each in value.keywords}
    init = given.get("init")
    is_out = isinstance(init, ast.Constant) and init.value is False
    return is_out and not {"default", "default_factory", "factory"} & given.keys() and not value.args


def _looks_up_by_code(files: FileSet, key: ClassKey) -> bool:
    return any(hook.endswith(("__getattr__", "__getattribute__")) for hook in dynamic_lookup(files, key))


def _is_deleted(files: FileSet, key: ClassKey, attribute: str) -> bool:
    return attribute in memo(files, "deleted", key, lambda: _deleted(files, key))


def _deleted(files: FileSet, key: ClassKey) -> frozenset[str]:
    """Attributes that some method of the class deletes from its object."""
    found: set[str] = set()
    for each in mro(files, key).classes:
        at = class_at(files, each)
        for statement in at[1].body if at is not None else ():
            if at is not None and isinstance(statement, FUNCTIONS) and _DEL.search(at[0].segment(statement)):
                found.update(use.attribute for use in self_uses(at[0], statement) if use.kind is UseKind.DELETE)
    return frozenset(found)


def _sets_any(files: FileSet, key: ClassKey) -> bool:
    """`setattr(self, name, v)` and `self.__dict__` may set attributes of any name."""
    return memo(files, "sets any", key, lambda: _sets_any_now(files, key))


def _sets_any_now(files: FileSet, key: ClassKey) -> bool:
    for each in mro(files, key).classes:
        at = class_at(files, each)
        for node in walk(at[1]) if at is not None else ():
            if isinstance(node, ast.Attribute) and node.attr == "__dict__":
                return True
            is_setattr = isinstance(node, ast.Call) and getattr(node.func, "id", "") == "setattr"
            if is_setattr and len(node.args) == 3 and not isinstance(node.args[1], ast.Constant):  # type: ignore[attr-defined]
                return True
    return False
