"""The method that is to lose `self`, with what is known about it and about its attributes: values, methods, accessors.

Facts only; what follows from them for a change is static_hazards.py's and its neighbours'."""

from __future__ import annotations

import ast
import re

from msgspec import Struct

from codemods.schema.hazards import Hazard, Refusal, Severity
from codemods.source import foreign
from codemods.source.binder import table
from codemods.source.classes import (
    ClassKey,
    External,
    class_at,
    defines,
    dynamic_lookup,
    memo,
    mro,
    resolve_class,
    subclasses,
)
from codemods.source.files import FileSet
from codemods.source.flow import Flow
from codemods.source.members import Member, MemberKind, members
from codemods.source.modules import modules_of
from codemods.source.parse import FUNCTIONS, Function, Source
from codemods.source.presence import Presence, presence, worst
from codemods.source.self_effects import ClassEffects, class_effects
from codemods.transforms.outside_writes import is_set_in, is_set_outside
from codemods.transforms.parameters import Needs
from codemods.transforms.static_results import Results

_LOCK = re.compile(r"(?:lock|mutex|semaphore|condition|cond)(?:\(\))?$", re.IGNORECASE)
_CACHED = frozenset({"cached_property"})
_SIMPLE = (
    ast.Attribute,
    ast.Name,
    ast.Constant,
    ast.BinOp,
    ast.UnaryOp,
    ast.BoolOp,
    ast.Compare,
    ast.IfExp,
    ast.Tuple,
    ast.operator,
    ast.unaryop,
    ast.boolop,
    ast.cmpop,
    ast.expr_context,
)


class Subject(Struct, frozen=True, kw_only=True, eq=False):
    """The method in question, with what is known about it.

    leaves: whether it goes on to another place than its class. on_class: its receiver is the class (`cls`)."""

    files: FileSet
    source: Source
    function: Function
    key: ClassKey
    needs: Needs
    results: Results
    flow: Flow
    has_wrapper: bool
    leaves: bool = True
    on_class: bool = False

    @property
    def effects(self) -> ClassEffects:
        """Of the whole class; looked up only where the body gives a reason to."""
        return class_effects(self.files, self.key)

    def hazard(self, code: str, severity: Severity, line: int, message: str, settle: str) -> Hazard:
        return Hazard(code=code, severity=severity, path=self.source.path, line=line, message=message, settle=settle)

    def refusal(self, code: str, line: int, message: str, settle: str) -> Refusal:
        return Refusal(code=code, path=self.source.path, line=line, message=message, settle=settle)

    # -- attributes

    def member(self, attribute: str) -> Member | None:
        """The member of the class, or of a base, under this name."""
        return memo(self.files, "members of all", self.key, lambda: _all_members(self.files, self.key)).get(attribute)

    def presence(self, attribute: str) -> Presence:
        """Whether the object surely has the attribute when the method starts."""
        if self.on_class:
            member = self.member(attribute)
            is_there = member is not None and member.kind not in (MemberKind.SLOT, MemberKind.FIELD)
            return Presence.SURE if is_there or attribute.endswith("__") else Presence.UNSURE
        return presence(self.files, self.key, self.function.name, attribute)

    def lacking(self, attribute: str) -> str:
        """The class whose objects may lack it, in words that follow a name of the attribute."""
        key = self.key if self.on_class else worst(self.files, self.key, self.function.name, attribute)[1]
        return "may not exist yet" if key == self.key else f"may not exist yet in a {key.name} ({key.module})"

    def is_method(self, attribute: str) -> bool:
        """Whether it is part of the class and not of the object's state."""
        member = self.member(attribute)
        return member is not None and member.kind in _STABLE

    def accessor(self, attribute: str) -> str:
        """What runs when the attribute is read or assigned, in words; "" for a plain value."""
        for key in (self.key, *subclasses(self.files, self.key)):
            at = class_at(self.files, key) if defines(self.files, key, attribute) else None
            member = members(self.files, *at).get(attribute) if at is not None else None
            if member is None and key == self.key:
                member = self.member(attribute)
            if member is not None and member.kind is MemberKind.ACCESSOR:
                return "a property"
            if member is not None and member.kind is MemberKind.ATTRIBUTE and _is_descriptor(self, member):
                return "a descriptor"
        return ""

    def is_cached(self, attribute: str) -> bool:
        """Whether reading it runs code the first time only."""
        member = self.member(attribute)
        decorators = getattr(member.node, "decorator_list", []) if member is not None else []
        return any(
            (each.attr if isinstance(each, ast.Attribute) else getattr(each, "id", "")) in _CACHED
            for each in decorators
        )

    def is_pure(self, attribute: str) -> bool:
        """Whether the accessor only puts attributes together: `return self._x`, with nothing called."""
        member = self.member(attribute)
        if member is None or self.is_cached(attribute) or not isinstance(member.node, FUNCTIONS):
            return False
        body = [each for each in member.node.body if not _is_text(each)]
        is_one = len(body) == 1 and isinstance(body[0], ast.Return) and body[0].value is not None
        overridden = any(defines(self.files, each, attribute) for each in subclasses(self.files, self.key))
        return is_one and not overridden and all(isinstance(at, _SIMPLE) for at in ast.walk(body[0].value))  # type: ignore[attr-defined]

    def behind(self, attribute: str) -> frozenset[str]:
        """The attributes whose values reading this one gives, itself included."""
        return self.effects.reach(attribute).reads | {attribute} if self.accessor(attribute) else frozenset({attribute})

    def hook(self, name: str) -> str:
        """The `__setattr__` or `__getattribute__` that the class has, in words; "" without one."""
        return next((each for each in dynamic_lookup(self.files, self.key) if each.endswith(f".{name}")), "")

    def writers(self, attribute: str) -> list[str]:
        """Other methods that write one of the values behind the attribute."""
        names = [each for behind in sorted(self.behind(attribute)) for each in self.effects.writers(behind)]
        return [each for each in dict.fromkeys(names) if each != self.function.name]

    def is_set_outside(self, attribute: str) -> bool:
        """Whether code anywhere assigns an attribute of this name to something that is not its own `self`."""
        key = self.key if attribute in self.needs_attributes else None
        return memo(self.files, "set outside", (attribute, key), lambda: is_set_outside(self.files, attribute, key))

    def is_set_in(self, module: str, attributes: frozenset[str]) -> bool:
        """As `is_set_outside`, in the functions of one module alone."""
        path = modules_of(self.files).path_of(module)
        return path is not None and any(
            is_set_in(self.files, path, each, self.key, is_called=True) for each in sorted(attributes)
        )

    @property
    def needs_attributes(self) -> frozenset[str]:
        """First-level attributes that the method uses."""
        return frozenset(use.attribute for use in self.needs.uses)

    # -- calls of the body

    def lock_around(self, node: ast.AST) -> str:
        """The text of a lock that the body holds at this node; "" without one."""
        for above in self.source.ancestors(node):
            if above is self.function:
                break
            for item in above.items if isinstance(above, (ast.With, ast.AsyncWith)) else ():
                text = self.source.segment(item.context_expr).decode()
                if _LOCK.search(text) and not any(each is item for each in self.source.ancestors(node)):
                    return text
        return ""

    def called(self, node: ast.AST) -> str:
        """The attribute of the object that is called at this node; "" for any other call."""
        if not isinstance(node, ast.Call):
            return ""
        return next((use.attribute for use in self.needs.uses if use.is_called and use.node is node.func), "")


def _is_text(statement: ast.stmt) -> bool:
    """A docstring, or another constant that does nothing."""
    return isinstance(statement, ast.Expr) and isinstance(statement.value, ast.Constant)


_STABLE = frozenset({MemberKind.METHOD, MemberKind.STATIC, MemberKind.CLASS_METHOD, MemberKind.CLASS})


def _all_members(files: FileSet, key: ClassKey) -> dict[str, Member]:
    found: dict[str, Member] = {}
    for each in mro(files, key).classes:
        at = class_at(files, each)
        if at is not None:
            found = {**members(files, *at), **found}
    return found


def _is_descriptor(subject: Subject, member: Member) -> bool:
    """A class attribute that an instance of a class with `__get__` is."""
    value = getattr(member.node, "value", None)
    if not isinstance(value, ast.Call):
        return False
    for each in mro(subject.files, subject.key).classes:
        at = class_at(subject.files, each)
        if at is None or member.node not in at[1].body:
            continue
        for found in resolve_class(subject.files, at[0], value.func, table(at[0]).module):
            if isinstance(found, ClassKey):
                return any(defines(subject.files, above, "__get__") for above in mro(subject.files, found).classes)
            if isinstance(found, External):
                return foreign.defines(found.name, "__get__") is True
    return False
