"""The function that a block is taken from, with what is known about it: its class, its locals and their flow."""

from __future__ import annotations

import ast
from collections.abc import Iterable
from functools import cached_property

from codemods.schema.hazards import Hazard, Refusal, Severity
from codemods.source.binder import table
from codemods.source.classes import ClassKey, class_at
from codemods.source.files import FileSet
from codemods.source.flow import Flow, flow_of
from codemods.source.flow_region import Region
from codemods.source.flow_scopes import parameters
from codemods.source.index import has_word
from codemods.source.locate import Located
from codemods.source.members import Assignment, MemberKind, assignments_in, members
from codemods.source.modules import modules_of
from codemods.source.parse import Source
from codemods.source.scopes import Role
from codemods.source.usage import receiver_name
from codemods.transforms.block_find import Part


class Host:
    """One function of one file. Everything is computed when first asked for."""

    def __init__(self, files: FileSet, located: Located) -> None:
        self.files = files
        self.source: Source = located.source
        self.function = located.function
        self.owner: ast.ClassDef | None = located.owner
        self.ref = located.ref
        self._regions: dict[Part, Region] = {}

    @property
    def name(self) -> str:
        return self.function.name

    @property
    def is_async(self) -> bool:
        return isinstance(self.function, ast.AsyncFunctionDef)

    @cached_property
    def key(self) -> ClassKey | None:
        """The class around; None for a module-level function."""
        return ClassKey(modules_of(self.files).module_of(self.source.path), self.ref.owner) if self.owner else None

    @cached_property
    def kind(self) -> MemberKind | None:
        """How the method is called; None for a module-level function."""
        if self.owner is None:
            return None
        member = members(self.files, self.source, self.owner)[self.name]
        is_function = self.function in member.nodes
        return member.kind if is_function else MemberKind.METHOD

    @cached_property
    def receiver(self) -> str:
        """`self` or `cls`; "" where the first parameter is an ordinary one."""
        if self.kind in (None, MemberKind.STATIC) or not (self.function.args.posonlyargs or self.function.args.args):
            return ""
        return receiver_name(self.function)

    @cached_property
    def parameter_names(self) -> list[str]:
        return [argument.arg for argument in parameters(self.function.args)]

    @cached_property
    def locals(self) -> frozenset[str]:
        """Every name that the function binds, its parameters included."""
        scope = table(self.source).scope_of(self.function)
        return frozenset(scope.bound) - scope.global_names - scope.nonlocal_names

    @cached_property
    def global_names(self) -> frozenset[str]:
        """Names that the function declares global."""
        return frozenset(table(self.source).scope_of(self.function).global_names)

    @cached_property
    def flow(self) -> Flow:
        """The flow of the body over the locals."""
        known = self.locals

        def key_of(node: ast.expr) -> str | None:
            return node.id if isinstance(node, ast.Name) and node.id in known else None

        # Annotations of functions made here count as reads also where they are not evaluated: so they keep their names.
        return flow_of(self.function.body, key_of, bound=self.parameter_names)

    def region(self, part: Part) -> Region:
        if part not in self._regions:
            self._regions[part] = Region(self.flow, part.nodes)
        return self._regions[part]

    def is_rebound(self, name: str) -> bool:
        """Whether anything but the parameter list binds the name."""
        bound = table(self.source).scope_of(self.function).bound.get(name, [])
        return any(occurrence.role is not Role.PARAMETER for occurrence in bound)

    def refusal(self, code: str, at: ast.AST | int, message: str, settle: str) -> Refusal:
        return Refusal(code=code, path=self.source.path, line=_line(at), message=message, settle=settle)

    def hazard(
        self, code: str, at: ast.AST | int, message: str, settle: str, severity: Severity = Severity.STOP
    ) -> Hazard:
        return Hazard(
            code=code, severity=severity, path=self.source.path, line=_line(at), message=message, settle=settle
        )


def assignments_of(files: FileSet, key: ClassKey, attribute: str) -> list[Assignment]:
    """Where one class of the tree assigns an attribute itself. Files that do not mention it are not read."""
    path = modules_of(files).path_of(key.module)
    if path is None or not has_word(files.read(path), attribute.encode()):
        return []
    at = class_at(files, key, attribute)
    return assignments_in(*at, key, attribute) if at is not None else []


def _line(at: ast.AST | int) -> int:
    return at if isinstance(at, int) else int(getattr(at, "lineno", 0))


def listed(names: Iterable[str]) -> str:
    """Names in a sentence."""
    found = list(names)
    return found[0] if len(found) == 1 else f"{', '.join(found[:-1])} and {found[-1]}" if found else "nothing"
