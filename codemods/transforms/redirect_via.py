"""The object that an attribute is redirected to: whether it is there, what it is, and since when.

Judges by assignments in the class and by annotations. What somebody sets from outside is not seen."""

from __future__ import annotations

import ast
from collections.abc import Iterable, Iterator
from functools import cached_property

from codemods.schema.hazards import Hazard, Refusal, Severity
from codemods.source.attribute_sites import AttributeSite, bearers
from codemods.source.classes import ClassKey, class_at, defines, has_dynamic_lookup, mro, subclasses
from codemods.source.files import FileSet
from codemods.source.locate import flattened
from codemods.source.members import Assignment, has_unknown_bases, instance_attributes, members, own_attributes
from codemods.source.modules import modules_of
from codemods.source.parse import FUNCTIONS
from codemods.source.receiver_kinds import Known
from codemods.source.receivers import attribute_type
from codemods.transforms.rename_report import hazard, refusal


class Via:
    """`path` is the attribute path between (`ps`, `model.config`), `leaf` the attribute at its end."""

    def __init__(self, files: FileSet, key: ClassKey, owners: tuple[ClassKey, ...], path: str, leaf: str) -> None:
        self.files, self.key, self.owners = files, key, owners
        self.path, self.leaf = path, leaf
        self.head = path.partition(".")[0]

    @property
    def text(self) -> str:
        return f"{self.path}.{self.leaf}"

    @cached_property
    def assignments(self) -> list[Assignment]:
        """Where the class and its bases set the first attribute of the path."""
        return instance_attributes(self.files, self.key).get(self.head, [])

    @cached_property
    def is_on_class(self) -> bool:
        return any(not each.method and each.value is not None for each in self.assignments)

    @cached_property
    def kinds(self) -> tuple[ClassKey, ...]:
        """The classes that the object at the end of the path may have; () when that is not known."""
        at: tuple[ClassKey, ...] = (self.key,)
        for part in self.path.split("."):
            found = [attribute_type(self.files, key, part) for key in at]
            at = tuple(key for each in found if isinstance(each, Known) for key in each.keys)
            if not all(isinstance(each, Known) for each in found):
                return ()
        return at

    @cached_property
    def is_frozen(self) -> bool:
        return any(_is_frozen(self.files, key) for key in self.kinds)

    def problems(self) -> Iterator[Refusal]:
        having = bearers(self.files, self.head)
        for owner in self.owners:
            order = mro(self.files, owner).classes
            is_there = any(each in having or defines(self.files, each, self.head) for each in order)
            if not is_there and not has_dynamic_lookup(self.files, owner):
                located = class_at(self.files, owner)
                line = located[1].lineno if located is not None else 0
                message = f"{owner.name} has no {self.head}, in its body or set by its methods"
                settle = f"set self.{self.head} in {owner.name} first"
                yield refusal("U102", self._path(owner), line, message, settle)
        leaves = bearers(self.files, self.leaf)
        for kind in self.kinds:
            is_open = has_unknown_bases(self.files, kind) or has_dynamic_lookup(self.files, kind)
            order = mro(self.files, kind).classes
            if not is_open and not any(each in leaves or defines(self.files, each, self.leaf) for each in order):
                message = f"{kind.name}, which {self.path} is, has no {self.leaf}"
                yield refusal("U102", self._path(kind), 0, message, f"give {kind.name} a {self.leaf} first")

    def _path(self, key: ClassKey) -> str:
        return modules_of(self.files).path_of(key.module) or ""

    # -- since when it is there

    def hazards(self, sites: Iterable[AttributeSite], *, writes: bool) -> Iterator[Hazard]:
        """writes: something is written to the object, and has to be there until it is read."""
        path = self._path(self.key)
        if writes:
            yield from self._replaced()
        for each in self.assignments:
            if _may_be_none(each):
                message = f"{self.head} may be None: it is set or declared so here"
                settle = f"check that {self.text} is read only after {self.head} is set, then accept U102"
                yield hazard("U102", Severity.STOP, each.path, each.line, message, settle)
        firm = [each for each in self.assignments if each.is_unconditional or not each.method]
        if not firm and self.assignments:
            first = self.assignments[0]
            message = f"{self.head} is first set in {first.method}(), so {self.text} may be read before it is there"
            settle = "set it in __init__ first, or prove with a twin run that nothing reads it before"
            yield hazard("U102", Severity.PROVE, path, first.line, message, settle)
        yield from self._too_early(sites)

    def _replaced(self) -> Iterator[Hazard]:
        """Assignments of the object itself, when there are several: what was written to the first one is lost."""
        heirs = subclasses(self.files, self.key)
        found = [
            *self.assignments,
            *(each for heir in heirs for each in own_attributes(self.files, heir).get(self.head, [])),
        ]
        for each in self.assignments:
            if each.parameter is not None:
                message = f"{self.head} comes from outside, so others that hold it see what is written to {self.text}"
                settle = f"drop the assignments, or prove with a twin run that nobody else reads {self.leaf} of it"
                yield hazard("U101", Severity.PROVE, each.path, each.line, message, settle)
        real = [each for each in found if not _may_be_none(each)]
        for each in real[1:]:
            message = f"{self.head} is set again here, so {self.text} may be another one than was written before"
            settle = "prove with a twin run that nothing is written before this line"
            yield hazard("U101", Severity.PROVE, each.path, each.line, message, settle)

    def _too_early(self, sites: Iterable[AttributeSite]) -> Iterator[Hazard]:
        """Uses in `__init__` above the line that sets the object."""
        lines = [each.line for each in self.assignments if each.method == "__init__" and each.owner == self.key]
        if not lines or self.is_on_class:
            return
        for site in sites:
            if site.path != self._path(self.key) or site.line >= min(lines):
                continue
            method = site.source.enclosing(site.node, *FUNCTIONS)
            owner = site.source.enclosing(method, ast.ClassDef) if method is not None else None
            is_init = getattr(method, "name", "") == "__init__" and getattr(owner, "name", "") == self.key.name
            if is_init:
                message = f"{self.head} is set only further down, at line {min(lines)}"
                settle = f"set self.{self.head} above this line first"
                yield hazard("U102", Severity.STOP, site.path, site.line, message, settle)


def _may_be_none(assignment: Assignment) -> bool:
    value, annotation = assignment.value, assignment.annotation
    if isinstance(value, ast.Constant) and value.value is None:
        return True
    text = ast.unparse(annotation).strip("'\"") if annotation is not None else ""
    return "Optional[" in text or text.endswith("| None") or text.startswith("None |")


def _is_frozen(files: FileSet, key: ClassKey) -> bool:
    """`@dataclass(frozen=True)`, `class S(msgspec.Struct, frozen=True)`, a named tuple."""
    if any(base.name.rpartition(".")[2] == "NamedTuple" for base in mro(files, key).external):
        return True
    for each in mro(files, key).classes:
        located = class_at(files, each)
        if located is None:
            continue
        calls = [call for call in located[1].decorator_list if isinstance(call, ast.Call)]
        keywords = [*located[1].keywords, *(given for call in calls for given in call.keywords)]
        if any(given.arg == "frozen" and getattr(given.value, "value", None) is True for given in keywords):
            return True
    return False


def forwards(files: FileSet, owner: ClassKey, name: str, text: str) -> bool:
    """Whether `name` is a property of the class that does nothing but read (and set) `self.<text>`."""
    located = class_at(files, owner)
    member = members(files, *located).get(name) if located is not None else None
    if located is None or member is None:
        return False
    for node in member.nodes:
        if not isinstance(node, FUNCTIONS) or not node.args.args:
            return False
        me = node.args.args[0].arg
        body = [each for each in flattened(node.body) if not _is_docstring(each)]
        written = [f"return {me}.{text}", *(f"{me}.{text} = {each.arg}" for each in node.args.args[1:])]
        if len(body) != 1 or ast.unparse(body[0]) not in written:
            return False
    return True


def _is_docstring(node: ast.stmt) -> bool:
    return isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant) and isinstance(node.value.value, str)
