"""Gives a moved definition its names in the new file: imported there, found there, or imported in its body.

The body's tokens stay: a name that can't be had under its own spelling at module level is imported in the function."""

from __future__ import annotations

from msgspec import Struct

from codemods.schema.hazards import Hazard, Severity
from codemods.source.binder import table
from codemods.source.files import FileSet
from codemods.source.import_layout import Line
from codemods.source.imports import Import, imports_of
from codemods.source.modules import modules_of
from codemods.source.parse import Source
from codemods.source.scopes import BUILTINS
from codemods.transforms.adjust_imports import Importer, relative_to
from codemods.transforms.move_needs import (
    Block,
    FreeName,
    annotations_run,
    is_logger,
    logger_of,
    rebound_by,
    same_there,
)


class Supply(Struct, frozen=True, kw_only=True, eq=False):
    """How the names are had, beside the imports at the top. local_lines: imports for the function's body. typing_lines:
    imports under TYPE_CHECKING. renames: occurrences in the block that get another spelling."""

    local_lines: tuple[str, ...]
    typing_lines: tuple[Line, ...]
    renames: dict[str, str]
    hazards: tuple[Hazard, ...]
    wants_logger: str = ""


class Supplier:
    """One move: names of `block` for code that goes into `target`."""

    def __init__(
        self,
        files: FileSet,
        block: Block,
        target: Source,
        importer: Importer,
        *,
        taken: frozenset[str],
        source_needs_target: bool,
    ) -> None:
        self.files, self.block, self.target = files, block, target
        self.modules = modules_of(files)
        self.importer = importer
        importer.taken.update(taken)
        self.source_needs_target = source_needs_target
        self.local_lines: list[str] = []
        self.typing_lines: list[Line] = []
        self.renames: dict[str, str] = {}
        self.hazards: list[Hazard] = []
        self.wants_logger = ""

    def supply(self, *, is_function: bool) -> Supply:
        """All names. is_function: the definition has a body that can hold imports."""
        self.is_function = is_function
        for name in self.block.names:
            self._one(name)
        self._builtins()
        return Supply(
            local_lines=tuple(dict.fromkeys(self.local_lines)),
            typing_lines=tuple(self.typing_lines),
            renames=self.renames,
            hazards=tuple(self.hazards),
            wants_logger=self.wants_logger,
        )

    def _hazard(self, name: FreeName, code: str, severity: Severity, message: str, settle: str) -> None:
        source = self.block.source
        line = source.text.line_of(name.occurrences[0].start)
        self.hazards.append(
            Hazard(code=code, severity=severity, path=source.path, line=line, message=message, settle=settle)
        )

    def _one(self, name: FreeName) -> None:
        if same_there(self.files, self.block.source, self.target, name.name) and self._is_plain_there(name.name):
            return
        if is_logger(self.block.source, name.name):
            self._logger(name)
        elif name.imports and all(each.is_plain for each in name.imports) and self._is_one_thing(name.imports):
            self._imported(name, name.imports[0])
        elif name.is_deferred and name.imports and all(each.type_checking_only for each in name.imports):
            self._typing_only(name, name.imports[0])
        else:
            self._at_home(name)

    def _is_plain_there(self, name: str) -> bool:
        found = [each for each in imports_of(self.files, self.target) if each.name == name and each.at_module_level]
        return all(each.is_plain for each in found)

    @staticmethod
    def _is_one_thing(found: tuple[Import, ...]) -> bool:
        return len({(each.module, each.attribute) for each in found if each.attribute}) <= 1

    def _logger(self, name: FreeName) -> None:
        """The convention of the target module: its own logger, or one of its own made the same way."""
        there = logger_of(self.target, like=name.name)
        if there and there != name.name:
            self.renames[name.name] = there
        elif not there:
            self.wants_logger = name.name
            if "logging" not in table(self.target).module.bound:
                self.importer.add(Line("logging"))
        module = self.modules.module_of(self.target.path)
        own = self.modules.module_of(self.block.source.path)
        message = f"log records come from logger {module!r} instead of {own!r}"
        self._hazard(name, "U110", Severity.NOTE, message, "accept U110, or look for filters and tests on the old name")

    def _imported(self, name: FreeName, found: Import) -> None:
        """Imported by the source: imported the same way here."""
        if found.attribute:
            self._bring(name, found.module, found.attribute, style="name")
        elif found.alias.asname:
            self._bring_module(name, found)
        else:
            for each in name.imports:  # `import a.b` and `import a.c` bind one name
                self._bring_module(name, each)

    def _bring(self, name: FreeName, module: str, attribute: str, *, style: str) -> None:
        target_own = self.modules.module_of(self.target.path)
        path = self.modules.path_of(module, near=self.block.source.path)
        module = self.modules.module_of(path) if path else module
        if module == target_own:
            return
        brought = self.importer.need(module, attribute, style=style, prefer=name.name)
        self.hazards.extend(brought.hazards)
        if brought.text == name.name and not brought.local_line:
            return
        self._locally(name, self._from_line(module, attribute, name.name))

    def _from_line(self, module: str, attribute: str, local: str) -> str:
        end = f" as {local}" if local != attribute else ""
        package = self.modules.package_of(self.target.path)
        is_relative = self.importer.writes_relative(module)
        return f"from {relative_to(package, module) if is_relative else module} import {attribute}{end}"

    def _bring_module(self, name: FreeName, found: Import) -> None:
        """`import a.b` or `import a.b as c`, as the source has it."""
        bound = table(self.target).module.bound.get(name.name)
        line = Line(found.module, "", found.alias.asname or "")
        if bound is None and name.name not in self.importer.taken:
            self.importer.add(line)
            return
        present = [each for each in imports_of(self.files, self.target) if each.name == name.name and each.is_plain]
        is_same = any(each.module == found.module and not each.attribute for each in present)
        same_head = present and not found.alias.asname and all(not each.attribute for each in present)
        if is_same or (same_head and all(not each.alias.asname for each in present)):
            if not is_same:
                self.importer.add(line)
            return
        if name.name in self.importer.taken and bound is None:
            self.importer.add(line)
            return
        self._locally(name, line.text())

    def _locally(self, name: FreeName, line: str) -> None:
        """Imported inside the body, because the module level can't have it under this name."""
        if name.is_deferred:
            return
        if name.is_lazy and self.is_function:
            self.local_lines.append(line)
            return
        message = f"{name.name} is needed when the module is imported, and can't be imported there: `{line}`"
        self._hazard(name, "U108", Severity.STOP, message, "choose another destination, or break the cycle first")

    def _typing_only(self, name: FreeName, found: Import) -> None:
        if annotations_run(self.target) and not self._is_quoted(name):
            message = f"{name.name} is imported for type checkers only, but annotations of the new module are evaluated"
            self._hazard(name, "U114", Severity.STOP, message, "add `from __future__ import annotations` there first")
            return
        if not self._bound_there(name.name):
            self.typing_lines.append(Line(found.module, found.attribute, found.alias.asname or ""))

    @staticmethod
    def _is_quoted(name: FreeName) -> bool:
        return all(type(occurrence.node).__name__ == "Constant" for occurrence in name.occurrences)

    def _bound_there(self, name: str) -> bool:
        return name in table(self.target).module.bound

    def _at_home(self, name: FreeName) -> None:
        """Defined (or conditionally imported) by the source module: imported from it."""
        source = self.block.source
        own = self.modules.module_of(source.path)
        changed_at = rebound_by(source, name.name)
        if changed_at and not name.is_deferred:
            message = f"{name.name} is rebound at line {changed_at}; an import would keep the value it had"
            self._hazard(name, "U101", Severity.STOP, message, f'move it along: carry = ["{name.name}"]')
            return
        line = self._from_line(own, name.name, name.name)
        if name.is_deferred:
            if not self._bound_there(name.name):
                self.typing_lines.append(Line(line.split(" ")[1], name.name, ""))
            return
        if self._bound_there(name.name) or name.name in self.importer.taken or self.source_needs_target:
            self._locally(name, line)
            return
        brought = self.importer.need(own, name.name, style="name", prefer=name.name)
        if brought.local_line or brought.text != name.name:
            self._locally(name, line)

    def _builtins(self) -> None:
        """A builtin that the target module hides would mean something else there."""
        for name in sorted(self.block.builtins & BUILTINS):
            if self._bound_there(name):
                source = self.block.source
                first = next(
                    each for each in table(source).between(self.block.start, self.block.end) if each.name == name
                )
                self.hazards.append(
                    Hazard(
                        code="U107",
                        severity=Severity.STOP,
                        path=source.path,
                        line=source.text.line_of(first.start),
                        message=f"{name} is the builtin here, but {self.target.path} binds that name itself",
                        settle="choose another destination, or rename what hides the builtin first",
                    )
                )
