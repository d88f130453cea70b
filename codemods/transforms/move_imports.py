"""Gives a moved definition its names in the new file: imported there, found there, or imported in its body.

The body's tokens stay: a name that can't be had under its own spelling at module level is imported in the function."""

from __future__ import annotations

import ast

from msgspec import Struct

from codemods.schema.hazards import Hazard, Severity
from codemods.source.binder import table
from codemods.source.files import FileSet
from codemods.source.import_layout import Line
from codemods.source.imports import Import, binding_import, imports_of
from codemods.source.modules import modules_of
from codemods.source.parse import Function, Source
from codemods.source.scopes import BUILTINS, ScopeKind, lookup
from codemods.source.star_imports import star_bringing
from codemods.transforms.adjust_imports import Importer
from codemods.transforms.local_imports import grouped, parsed, places_for
from codemods.transforms.move_needs import (
    Block,
    FreeName,
    annotations_run,
    loaded_twice,
    logger_key,
    logger_of,
    logger_value,
    rebound_by,
    same_there,
)


class Supply(Struct, frozen=True, kw_only=True, eq=False):
    """How the names are had, beside the imports at the top.

    local_lines: imports for the function's body. placed: imports above one of its statements. typing_lines: imports
    under TYPE_CHECKING. renames: names in the block that get another spelling. homes: the modules from which the block
    reads names now, when not through the target itself ("" for the old module). logger: an assignment that gives the
    target its logger."""

    local_lines: tuple[str, ...]
    placed: tuple[tuple[ast.stmt, str], ...]
    typing_lines: tuple[Line, ...]
    renames: dict[str, str]
    homes: dict[str, str]
    hazards: tuple[Hazard, ...]
    logger: str = ""
    logs_elsewhere: bool = False


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
        function: Function | None,
    ) -> None:
        self.files, self.block, self.target = files, block, target
        self.modules = modules_of(files)
        self.importer = importer
        importer.taken.update(taken)
        self.source_needs_target = source_needs_target
        self.function = function  # the one definition that moves, when it has a body that can hold imports
        self.local_lines: list[str] = []
        self.placed: list[tuple[ast.stmt, str]] = []
        self.typing_lines: list[Line] = []
        self.renames: dict[str, str] = {}
        self.homes: dict[str, str] = {}
        self.hazards: list[Hazard] = []
        self.logger = ""
        self.logs_elsewhere = False

    def supply(self) -> Supply:
        """All names."""
        for name in self.block.names:
            self._one(name)
        self._builtins()
        return Supply(
            local_lines=grouped(self.local_lines, self.files.line_length),
            placed=tuple(self.placed),
            typing_lines=tuple(self.typing_lines),
            renames=self.renames,
            homes=self.homes,
            hazards=tuple(self.hazards),
            logger=self.logger,
            logs_elsewhere=self.logs_elsewhere,
        )

    def _hazard(self, name: FreeName, code: str, severity: Severity, message: str, settle: str) -> None:
        source = self.block.source
        line = source.text.line_of(name.occurrences[0].start)
        self.hazards.append(
            Hazard(code=code, severity=severity, path=source.path, line=line, message=message, settle=settle)
        )

    def _one(self, name: FreeName) -> None:
        if name.star:
            self._bring(name, name.star, name.name)
            return
        if same_there(self.files, self.block.source, self.target, name.name) and self._is_plain_there(name.name):
            return
        if self._must_run(name) and not self._can_run(name):
            return
        if logger_key(self.block.source, name.name):
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

    # -- annotations that were not evaluated, and would be

    def _must_run(self, name: FreeName) -> bool:
        waiting = [each for each in name.occurrences if each.deferred and not isinstance(each.node, ast.Constant)]
        return bool(waiting) and annotations_run(self.target)

    def _can_run(self, name: FreeName) -> bool:
        """Whether the name is there when the annotation is evaluated; else a hazard is added."""
        own = self.modules.module_of(self.block.source.path)
        if name.imports and all(each.is_plain for each in name.imports):
            if not any(self.importer.is_circular(each.module) for each in name.imports):
                return True
        elif not name.imports and not self.source_needs_target and self.importer.can_bring(own, name.name, name.name):
            return True
        message = (
            f"the annotation {name.name} is not evaluated here, but would be in {self.target.path}, without the name"
        )
        settle = "add `from __future__ import annotations` there first, or quote the annotation"
        self._hazard(name, "U114", Severity.STOP, message, settle)
        return False

    # -- loggers

    def _logger(self, name: FreeName) -> None:
        """The convention of the target module: its own logger, or one of its own made the same way."""
        source = self.block.source
        key = logger_key(source, name.name)
        there = logger_of(self.target, key, like=name.name)
        if there and (there == name.name or self._is_readable(name, there)):
            if there != name.name:
                self.renames[name.name] = there
        elif self._bound_there(name.name) or name.name in self.importer.taken:
            message = f"{self.target.path} binds {name.name}, but not to a logger of its own"
            self._hazard(name, "U107", Severity.STOP, message, "rename one of them first")
        else:
            value = logger_value(source, name.name)
            assert value is not None
            self._maker(value)
            self.logger = f"{name.name} = {source.segment(value).decode()}"
        if key == "__name__":
            self.logs_elsewhere = True
            module, own = self.modules.module_of(self.target.path), self.modules.module_of(source.path)
            message = f"log records come from logger {module!r} instead of {own!r}"
            self._hazard(
                name, "U110", Severity.NOTE, message, "accept U110, or look for filters and tests on the old name"
            )

    def _is_readable(self, name: FreeName, there: str) -> bool:
        """Whether the target's name for it means the module's name wherever the block reads it."""
        homes = {each: lookup(each.scope, there) for each in name.occurrences}
        return all(home is None or home.kind is ScopeKind.MODULE for home in homes.values())

    def _maker(self, value: ast.Call) -> None:
        """What makes the logger (`logging`, `init_logger`) is imported as the source does it."""
        head: ast.expr = value.func
        while isinstance(head, ast.Attribute):
            head = head.value
        assert isinstance(head, ast.Name)
        source = self.block.source
        imports = tuple(binding_import(self.files, source, head.id))
        if same_there(self.files, source, self.target, head.id):
            return
        occurrences = tuple(each for each in table(source).named(head.id) if each.node is head)
        maker = FreeName(
            name=head.id, occurrences=occurrences, imports=imports, is_lazy=False, is_deferred=False, is_sure=True
        )
        self._one(maker)

    # -- imported by the source: imported the same way here

    def _imported(self, name: FreeName, found: Import) -> None:
        if found.attribute:
            self._bring(name, found.module, found.attribute)
        elif found.alias.asname:
            self._bring_module(name, found)
        else:
            for each in name.imports:  # `import a.b` and `import a.c` bind one name
                self._bring_module(name, each)

    def _bring(self, name: FreeName, module: str, attribute: str) -> None:
        path = self.modules.path_of(module, near=self.block.source.path)
        module = self.modules.module_of(path) if path else module
        if module == self.modules.module_of(self.target.path):
            self._of_target(name, module, attribute)
            return
        if self.importer.can_bring(module, attribute, name.name):
            self.importer.need(module, attribute, style="name", prefer=name.name)
            return
        self.homes[name.name] = module
        self._locally(name, self._from_line(module, attribute, name.name))

    def _of_target(self, name: FreeName, module: str, attribute: str) -> None:
        """`from dst import x` in what goes to dst. A package has its own modules only once somebody imports them."""
        submodule = f"{module}.{attribute}"
        if self._bound_there(attribute) or self.modules.path_of(submodule, near=self.target.path) is None:
            if attribute != name.name:
                self._itself(name, attribute)
        elif self.importer.is_circular(submodule) or self._bound_there(name.name):
            self._locally(name, self._from_line(module, attribute, name.name))
        else:
            alias = name.name if name.name != attribute else ""
            self.importer.add(Line(self.importer.written(module), attribute, alias))

    def _itself(self, name: FreeName, attribute: str) -> None:
        """`from dst import g as h` in what goes to dst: g is there, h is not."""
        if self._bound_there(name.name) or name.name in self.importer.taken:
            self._locally(name, self._from_line(self.modules.module_of(self.target.path), attribute, name.name))
        else:
            self.renames[name.name] = attribute

    def _from_line(self, module: str, attribute: str, local: str) -> str:
        end = f" as {local}" if local != attribute else ""
        return f"from {self.importer.written(module)} import {attribute}{end}"

    def _bring_module(self, name: FreeName, found: Import) -> None:
        """`import a.b` or `import a.b as c`, as the source has it."""
        line = Line(found.module, "", found.alias.asname or "")
        bound = self._bound_there(name.name) or bool(star_bringing(self.files, self.target, name.name))
        if not bound and not self.importer.is_circular(found.module):
            self.importer.add(line)
            return
        present = [each for each in imports_of(self.files, self.target) if each.name == name.name and each.is_plain]
        is_same = any(each.module == found.module and not each.attribute for each in present)
        same_head = bool(present) and all(not each.attribute and not each.alias.asname for each in present)
        if is_same or (same_head and not found.alias.asname):
            if not is_same:
                self.importer.add(line)
            return
        self.homes[name.name] = found.module.partition(".")[0]
        self._locally(name, line.text())

    def _locally(self, name: FreeName, line: str) -> None:
        """Imported inside the body, because the module level can't have it under this name."""
        self._for_types(name, line)
        if name.is_deferred:
            return
        if name.is_lazy and self.function is not None:
            self.local_lines.append(line)
            return
        message = f"{name.name} is needed when the module is imported, and can't be imported there: `{line}`"
        carry = f'move it along (carry = ["{name.name}"]), or ' if not name.imports else ""
        self._hazard(name, "U108", Severity.STOP, message, f"{carry}choose another destination")

    def _for_types(self, name: FreeName, line: str) -> None:
        """What annotations need that are not evaluated, when the name is not bound at module level."""
        if any(each.deferred for each in name.occurrences) and not self._bound_there(name.name):
            self.typing_lines.append(parsed(line))

    def _typing_only(self, name: FreeName, found: Import) -> None:
        if not self._bound_there(name.name):
            module = self.importer.written(found.module) if found.attribute else found.module
            self.typing_lines.append(Line(module, found.attribute, found.alias.asname or ""))

    def _bound_there(self, name: str) -> bool:
        return name in table(self.target).module.bound

    # -- at home in the source, or imported there on a condition

    def _at_home(self, name: FreeName) -> None:
        source = self.block.source
        own = self.modules.module_of(source.path)
        changed_at = rebound_by(source, name.name)
        if changed_at and not name.is_deferred:
            message = f"{name.name} is rebound at line {changed_at}; an import would keep the value it had"
            self._hazard(name, "U101", Severity.STOP, message, f'move it along: carry = ["{name.name}"]')
            return
        line = self._from_line(own, name.name, name.name)
        if name.is_deferred:
            self._for_types(name, line)
            return
        twice = loaded_twice(source, name.name)
        if twice:
            message = f"{source.path} also runs as a script (line {twice}); `{line}` would load it a second time"
            settle = f'move it along: carry = ["{name.name}"], or accept U109 when it is only imported'
            self._hazard(name, "U109", Severity.STOP, message, settle)
        if not name.is_sure and name.is_lazy:
            self._where_it_is_read(name, line)
            return
        if not self.source_needs_target and self.importer.can_bring(own, name.name, name.name):
            self.importer.need(own, name.name, style="name", prefer=name.name)
            return
        self.homes[name.name] = ""
        self._locally(name, line)

    def _where_it_is_read(self, name: FreeName, line: str) -> None:
        """A name that the module has only on some paths is imported where the code surely reads it."""
        reads = [occurrence.node for occurrence in name.occurrences if not occurrence.deferred]
        places = places_for(self.block.source, self.function, reads) if self.function is not None else None
        if places is None:
            message = f"{name.name} is not always bound in {self.block.source.path}, so it can't be imported beforehand"
            settle = (
                "bind it on every path first (`except ImportError: name = None`), or read it in a branch of its own"
            )
            self._hazard(name, "U102", Severity.STOP, message, settle)
            return
        self.homes[name.name] = ""
        self._for_types(name, line)
        self.placed.extend((place, line) for place in places)

    def _builtins(self) -> None:
        """A builtin that the target module hides would mean something else there."""
        for name in sorted(self.block.builtins & BUILTINS):
            if not self._bound_there(name) and not star_bringing(self.files, self.target, name):
                continue
            source = self.block.source
            first = next(each for each in table(source).between(self.block.start, self.block.end) if each.name == name)
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
