"""Everybody who names a moved definition: calls requalified, imports repointed, the old module's own uses included.

Edits every file but the block itself and the new file's paste; strings are repath_strings.py's."""

from __future__ import annotations

import ast

from msgspec import Struct

from codemods.schema.hazards import Hazard, Severity
from codemods.source.binder import table
from codemods.source.files import FileSet
from codemods.source.import_layout import Line
from codemods.source.imports import Import, imports_of
from codemods.source.modules import modules_of
from codemods.source.parse import Source, load
from codemods.source.scopes import Role
from codemods.source.sites import CallSite, CallSites, SiteKind, node_at
from codemods.source.splice import Edit, with_newline
from codemods.transforms.adjust_imports import Importer
from codemods.transforms.drop_imports import removal


class Callers(Struct, frozen=True, kw_only=True):
    """Edits by path. touched: names whose imports may be unused now, by path."""

    edits: dict[str, list[Edit]]
    touched: dict[str, set[str]]
    hazards: tuple[Hazard, ...] = ()


class Requalify:
    """One definition `name` (of class `owner` or of a module) that goes from `source_path` to `module`."""

    def __init__(
        self,
        files: FileSet,
        sites: CallSites,
        *,
        name: str,
        owner: str,
        module: str,
        target: str,
        style: str,
        span: tuple[str, int, int],
        importers: dict[str, Importer],
    ) -> None:
        self.files, self.sites = files, sites
        self.name, self.owner, self.module, self.target, self.style = name, owner, module, target, style
        self.span = span
        self.modules = modules_of(files)
        self.edits: dict[str, list[Edit]] = {}
        self.touched: dict[str, set[str]] = {}
        self.hazards: list[Hazard] = []
        self.importers = importers  # shared by all definitions of one move; whoever owns it takes the edits

    def run(self) -> Callers:
        """All edits outside the block."""
        for site in self.sites.sites:
            if not site.is_sure:
                self._possible(site)
            elif not (site.path == self.span[0] and self.span[1] <= site.start < self.span[2]):
                self._one(site)
        if not self.owner:
            self._own_module()
        return Callers(edits=self.edits, touched=self.touched, hazards=tuple(self.hazards))

    def _importer(self, path: str) -> Importer:
        if path not in self.importers:
            self.importers[path] = Importer(self.files, load(self.files, path))
        if path == self.span[0] and not self.owner:
            self.importers[path].forget(self.name)
        return self.importers[path]

    def _possible(self, site: CallSite) -> None:
        self.hazards.append(
            Hazard(
                code="U115",
                severity=Severity.STOP,
                path=site.path,
                line=site.line,
                message=f"this may name {self.sites.ref.qualname}: {site.reason}",
                settle="keep a same-named method: wrapper = true, or annotate the receiver",
            )
        )

    def _stop(self, site: CallSite, code: str, message: str, settle: str) -> None:
        self.hazards.append(
            Hazard(code=code, severity=Severity.STOP, path=site.path, line=site.line, message=message, settle=settle)
        )

    def _one(self, site: CallSite) -> None:
        source = load(self.files, site.path)
        if site.kind is SiteKind.IMPORT:
            self._import(source, site)
            return
        if site.kind in (SiteKind.ASSIGNMENT, SiteKind.DELETION):
            self._stop(site, "U111", f"{self.name} is replaced on its old home here", "patch it where it goes first")
            return
        node = node_at(source, site)
        named = node.func if isinstance(node, ast.Call) else node
        if site.kind in (SiteKind.SUPER_CALL, SiteKind.CLS_CALL):
            self._stop(site, "U104", "the class is known only at run time here", "keep a wrapper: wrapper = true")
            return
        if isinstance(named, ast.Attribute):
            self._qualified(source, site, named)
        elif isinstance(named, ast.Name) and site.path == self.span[0] and not self.owner:
            self._bare(source, named)

    def _qualified(self, source: Source, site: CallSite, named: ast.Attribute) -> None:
        """`A.f`, `mod.f`, `pkg.mod.f`, `self.f` of a static method: what stands before goes."""
        start = source.start(named)
        if source.path == self.target:
            text = self.name
        else:
            brought = self._importer(site.path).need(self.module, self.name, style=self.style, at=start)
            self.hazards.extend(brought.hazards)
            text = brought.text
        self.edits.setdefault(site.path, []).append(Edit(start, source.end(named), text.encode()))
        head = named.value
        while isinstance(head, ast.Attribute):
            head = head.value
        if isinstance(head, ast.Name):
            self.touched.setdefault(site.path, set()).add(head.id)

    def _bare(self, source: Source, named: ast.Name) -> None:
        """A plain use in the old module: through the new module where the plan asks for that."""
        if self.style == "module":
            brought = self._importer(source.path).need(self.module, self.name, style="module", at=source.start(named))
            self.hazards.extend(brought.hazards)
            self.edits.setdefault(source.path, []).append(
                Edit(source.start(named), source.end(named), brought.text.encode())
            )

    def _own_module(self) -> None:
        """Names that stay in the old module and are spelled as before need an import (decorators, annotations too)."""
        path, start, end = self.span
        if path == self.target:
            return
        source = load(self.files, path)
        scopes = table(source)
        uses = [
            each
            for each in scopes.named(self.name)
            if not start <= each.start < end and each.role is not Role.DEFINE and scopes.resolve(each) is scopes.module
        ]
        requalified = {edit.start for edit in self.edits.get(path, [])}
        plain = [each for each in uses if each.start not in requalified]
        for each in plain:
            brought = self._importer(path).need(self.module, self.name, style="name", at=each.start, prefer=self.name)
            self.hazards.extend(brought.hazards)
            if brought.text != self.name:
                self.edits.setdefault(path, []).append(Edit(each.start, each.end, brought.text.encode()))

    def _import(self, source: Source, site: CallSite) -> None:
        """`from old import f` becomes `from new import f`, where it stands; in the new module itself it goes."""
        found = next(each for each in imports_of(self.files, source) if source.start(each.alias) == site.start)
        statement = found.statement
        assert isinstance(statement, ast.ImportFrom)
        edits = self.edits.setdefault(source.path, [])
        if source.path == self.target:
            removed, lost = removal(source, [found])
            edits.extend(removed)
            self.hazards.extend(lost)
            return
        written = Importer(self.files, source).written(self.module)
        line = Line(written, found.attribute, found.alias.asname or "")
        if len(statement.names) == 1:
            start, end = self._module_span(source, statement)
            edits.append(Edit(start, end, written.encode()))
            return
        removed, lost = removal(source, [found])
        edits.extend(removed)
        self.hazards.extend(lost)
        if found.is_plain:
            self._importer(source.path).add(line)
        else:
            self._beside(source, found, line)

    def _beside(self, source: Source, found: Import, line: Line) -> None:
        """A new statement under the old one, in its block."""
        statement = found.statement
        at = source.text.line_end(source.end(statement) - 1)
        indent = source.text.indent_at(source.start(statement))
        text = with_newline(indent + line.text().encode() + b"\n", source.text.newline)
        self.edits[source.path].append(Edit(at, at, text))

    @staticmethod
    def _module_span(source: Source, statement: ast.ImportFrom) -> tuple[int, int]:
        start = source.start(statement) + len(b"from")
        end = source.body.index(b"import", start + len((statement.module or "").encode()))
        text = source.body[start:end]
        return start + len(text) - len(text.lstrip()), end - (len(text) - len(text.rstrip()))
