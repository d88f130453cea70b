"""Everybody who names a moved definition: calls requalified, imports repointed, the old module's own uses included.

Edits every file but the block itself and the new file's paste; strings are repath_strings.py's. Imports that must go
are only named here: they are taken out once the new text stands."""

from __future__ import annotations

import ast
import re

from msgspec import Struct

from codemods.schema.hazards import Hazard, Severity
from codemods.source.binder import table
from codemods.source.files import FileSet
from codemods.source.forward_refs import quoted_attributes
from codemods.source.import_layout import Line, module_of
from codemods.source.imports import Import, Origin, imports_of, resolve_dotted
from codemods.source.index import mentioning
from codemods.source.locate import shares_line, tail_end
from codemods.source.module_facts import module_facts
from codemods.source.modules import modules_of
from codemods.source.parse import Source, load
from codemods.source.scopes import Role, ScopeKind, lookup
from codemods.source.sites import CallSite, CallSites, SiteKind, node_at
from codemods.source.splice import Edit, with_newline
from codemods.transforms.adjust_imports import Importer
from codemods.transforms.drop_imports import ImportKey, import_key
from codemods.transforms.local_imports import scope_at
from codemods.transforms.move_block import module_span
from codemods.transforms.move_types import ForTypes, new_line


class Callers(Struct, frozen=True, kw_only=True):
    """Edits by path. touched: names whose imports may be unused now, by path. gone: imports that have to go. for_types:
    imports that are wanted for type checkers only."""

    edits: dict[str, list[Edit]]
    touched: dict[str, set[str]]
    gone: dict[str, set[ImportKey]]
    for_types: dict[str, set[Line]]
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
        moved: list[tuple[int, int]],
        importers: dict[str, Importer],
    ) -> None:
        self.files, self.sites = files, sites
        self.name, self.owner, self.module, self.target, self.style = name, owner, module, target, style
        self.span, self.moved = span, moved  # of the definition, and of all that leaves the file with it
        self.modules = modules_of(files)
        self.edits: dict[str, list[Edit]] = {}
        self.touched: dict[str, set[str]] = {}
        self.gone: dict[str, set[ImportKey]] = {}
        self.types = ForTypes(files, module, name, style)
        self.hazards: list[Hazard] = []
        self.importers = importers  # shared by all definitions of one move; whoever owns it takes the edits
        self._taken_over: dict[Import, list[str]] = {}  # imports in functions: for each use that goes, what it needs

    def run(self) -> Callers:
        """All edits outside the block."""
        for site in sorted(self.sites.sites, key=lambda each: each.kind is not SiteKind.IMPORT):
            if not site.is_sure:
                self._possible(site)
            elif not (site.path == self.span[0] and self._moves(site.start)):
                self._one(site)
        if not self.owner:
            self._own_module()
            self._quoted()
        self._replace_local_imports()
        return Callers(
            edits=self.edits,
            touched=self.touched,
            gone=self.gone,
            for_types=self.types.lines,
            hazards=tuple(self.hazards),
        )

    def _importer(self, path: str) -> Importer:
        if path not in self.importers:
            self.importers[path] = Importer(self.files, load(self.files, path))
        if path == self.span[0] and not self.owner:
            self.importers[path].forget(self.name)
        return self.importers[path]

    def _moves(self, at: int) -> bool:
        return any(start <= at < end for start, end in self.moved)

    def _add(self, path: str, *edits: Edit) -> None:
        self.edits.setdefault(path, []).extend(edits)

    def _stop(self, site: CallSite, code: str, message: str, settle: str) -> None:
        self.hazards.append(
            Hazard(code=code, severity=Severity.STOP, path=site.path, line=site.line, message=message, settle=settle)
        )

    def _possible(self, site: CallSite) -> None:
        if site.receiver is None and site.path != self.span[0]:
            return  # a bare name: it goes on meaning what its import, which follows, makes of it
        message = f"this may name {self.sites.ref.qualname}: {site.reason}"
        self._stop(site, "U115", message, "keep a same-named method: wrapper = true, or annotate the receiver")

    def _one(self, site: CallSite) -> None:
        source = load(self.files, site.path)
        if site.kind is SiteKind.IMPORT:
            self._import(source, site)
            return
        if site.kind in (SiteKind.ASSIGNMENT, SiteKind.DELETION):
            self._stop(site, "U111", f"{self.name} is replaced on its old home here", "patch it where it goes first")
            return
        if isinstance(site.node, ast.Constant):
            return  # a bare name in a quoted annotation: whatever imports it follows
        node = node_at(source, site)
        named = node.func if isinstance(node, ast.Call) else node
        if site.kind in (SiteKind.SUPER_CALL, SiteKind.CLS_CALL):
            self._stop(site, "U104", "the class is known only at run time here", "keep a wrapper: wrapper = true")
            return
        if isinstance(named, ast.Attribute):
            self._qualified(source, site, named)
        elif isinstance(named, ast.Name) and site.path == self.span[0]:
            self._bare(source, site, named)

    # -- uses

    def _qualified(self, source: Source, site: CallSite, named: ast.Attribute) -> None:
        """`A.f`, `mod.f`, `pkg.mod.f`, `self.f` of a static method: what stands before goes."""
        start = source.start(named)
        head: ast.expr = named.value
        while isinstance(head, ast.Attribute):
            head = head.value
        if not isinstance(head, ast.Name):
            message = f"what stands before .{self.name} is evaluated here and would not be any more"
            self._stop(site, "U101", message, "give it a name in a statement of its own first")
            return
        if not self.owner and self._is_passed_on(source, named):
            return
        if source.path == self.target:
            text = self.name
        else:
            importer = self._importer(site.path)
            local = self._local_import(importer.source, head, start)
            text = self._through(importer, local, start) if local else ""
            text = text or self.types.spell(importer, head.id)
            if not text:
                brought = importer.need(self.module, self.name, style=self.style, at=start)
                self.hazards.extend(brought.hazards)
                text = brought.text
        self._add(site.path, Edit(start, source.end(named), text.encode()))
        self.touched.setdefault(site.path, set()).add(head.id)

    def _quoted(self) -> None:
        """`"old.f"` in quoted annotations."""
        old = self.modules.module_of(self.span[0])
        for path in mentioning(self.files, self.name):
            if not re.search(rb"['\"][^'\"\n]*\." + self.name.encode() + rb"\b", self.files.read(path)):
                continue
            importer = self._importer(path)
            source = importer.source
            for quoted in quoted_attributes(source, self.name):
                at = source.start(quoted.node)
                home = resolve_dotted(self.files, source, quoted.expression, scope_at(source, at))
                head: ast.expr = quoted.expression
                while isinstance(head, ast.Attribute):
                    head = head.value
                if home != Origin(old, self.name) or not isinstance(head, ast.Name):
                    continue
                start = quoted.span[1] - len(ast.unparse(quoted.expression).encode())
                text = self.types.spell(importer, head.id)
                if not text:
                    brought = importer.need(self.module, self.name, style=self.style, at=at)
                    self.hazards.extend(brought.hazards)
                    text = brought.text
                self._add(path, Edit(start, quoted.span[1], text.encode()))
                self.touched.setdefault(path, set()).add(head.id)

    def _is_passed_on(self, source: Source, named: ast.Attribute) -> bool:
        """`package.f` where the package imports the function to pass it on."""
        base = resolve_dotted(self.files, source, named.value, scope_at(source, source.start(named)))
        return base is not None and not base.name and self._is_reexport(base.module, named.attr, source.path)

    def _local_import(self, source: Source, head: ast.Name, at: int) -> Import | None:
        """The import inside a function that gives the head of a qualified name."""
        home = lookup(scope_at(source, at), head.id)
        if home is None or home.kind is not ScopeKind.FUNCTION or len(home.bound[head.id]) != 1:
            return None
        found = [each for each in imports_of(self.files, source) if each.scope is home and each.name == head.id]
        return found[0] if found else None

    def _through(self, importer: Importer, local: Import, at: int) -> str:
        """How the use is spelled when the import in the function is replaced where it stands; "" when it is not."""
        present = importer.present(self.module, self.name, self.style, at)
        if present:
            self._taken_over.setdefault(local, []).append("")
            return present
        leaf = self.module.rpartition(".")[2]
        wanted = self.name if self.style == "name" else leaf
        scope = local.scope
        is_free = wanted not in scope.bound or wanted == local.name
        if not is_free or len(local.statement.names) > 1 or importer.source.start(local.statement) >= at:
            brought = importer.need(self.module, self.name, style=self.style, at=at, lazy=True)
            return brought.text
        self._taken_over.setdefault(local, []).append(new_line(importer, self.module, self.name, self.style).text())
        return wanted if self.style == "name" else f"{wanted}.{self.name}"

    def _replace_local_imports(self) -> None:
        """`import late` in a function becomes the import of the new home; both stand when both are used."""
        for local, needs in self._taken_over.items():
            path = next(path for path, each in self.importers.items() if local in imports_of(self.files, each.source))
            source = self.importers[path].source
            occurrences = [each for each in table(source).named(local.name) if each.role is not Role.IMPORT]
            num_uses = sum(lookup(each.scope, local.name) is local.scope for each in occurrences)
            is_unused = num_uses <= len(needs)
            line = max(needs).encode()
            statement = local.statement
            if is_unused and line:
                self._add(path, Edit(source.start(statement), source.end(statement), line))
            elif is_unused:
                self.gone.setdefault(path, set()).add(import_key(local))
            elif line:
                self._beside(source, statement, line)

    def _bare(self, source: Source, site: CallSite, named: ast.Name) -> None:
        """A plain use in the old module: through the new module where the plan asks for that."""
        if self.owner:
            message = f"the class body uses {self.name} while the class is made"
            self._stop(site, "U114", message, "take that use out of the class body first")
            return
        if self.style == "module":
            brought = self._importer(source.path).need(self.module, self.name, style="module", at=source.start(named))
            self.hazards.extend(brought.hazards)
            self._add(source.path, Edit(source.start(named), source.end(named), brought.text.encode()))

    def _own_module(self) -> None:
        """Names that stay in the old module and are spelled as before need an import (decorators, annotations too)."""
        path = self.span[0]
        if path == self.target:
            return
        source = load(self.files, path)
        scopes = table(source)
        uses = [
            each
            for each in scopes.named(self.name)
            if not self._moves(each.start) and each.role is not Role.DEFINE and scopes.resolve(each) is scopes.module
        ]
        requalified = {edit.start for edit in self.edits.get(path, [])}
        plain = [each for each in uses if each.start not in requalified]
        for each in plain:
            is_early = lookup(each.scope, self.name) is not scopes.module  # read in a class body that binds it later
            at = source.start(each.scope.node) if is_early else each.start
            is_code = each.role is Role.LOAD and not each.deferred
            style = self.style if is_code else "name"
            prefer = self.name if style == "name" else ""
            brought = self._importer(path).need(self.module, self.name, style=style, at=at, prefer=prefer)
            self.hazards.extend(brought.hazards)
            if brought.text != self.name:
                self._add(path, Edit(each.start, each.end, brought.text.encode()))

    # -- imports of it

    def _import(self, source: Source, site: CallSite) -> None:
        """`from old import f` becomes `from new import f`, where it stands; in the new module itself it goes."""
        found = next(each for each in imports_of(self.files, source) if source.start(each.alias) == site.start)
        statement = found.statement
        assert isinstance(statement, ast.ImportFrom)
        if self._is_reexport(found.module, found.attribute, source.path):
            return
        if source.path == self.target:
            self.gone.setdefault(source.path, set()).add(import_key(found))
            if found.name != self.name:
                message = f"{found.name} is the name that {self.module} knows it by"
                self._stop(site, "U107", message, f"let it import {self.name} under its own name first")
            return
        importer = self._importer(source.path)
        if found.at_module_level and not found.type_checking_only and importer.is_circular(self.module):
            message = f"an import of {self.module} at module level would close a cycle here"
            self._stop(site, "U108", message, "import it in the function that needs it first, or break the cycle")
        line = Line(importer.written(self.module), found.attribute, found.alias.asname or "")
        if found.is_plain and found.attribute == self.name:
            importer.give(self.module, self.name, found.name)
        if len(statement.names) == 1 and not self._has_neighbour(source, found, line):
            start, end = module_span(source, statement)
            self._add(source.path, Edit(start, end, line.module.encode()))
            return
        self.gone.setdefault(source.path, set()).add(import_key(found))
        if found.is_plain:
            importer.add(line, source.start(statement))
        else:
            self._beside(source, statement, line.text().encode())

    def _is_reexport(self, module: str, name: str, near: str) -> bool:
        """Whether the module only passes the name on: its own import follows, so it goes on having the name."""
        path = self.modules.path_of(module, near=near)
        return path not in (None, self.span[0], self.target) and name in module_facts(self.files, str(path)).imported

    def _has_neighbour(self, source: Source, found: Import, line: Line) -> bool:
        """Whether the file imports from the new module already, so that the name joins that statement."""
        if not found.is_plain or source.body[source.end(found.statement) :].split(b"\n", 1)[0].strip():
            return False
        return any(
            each.is_plain and isinstance(each.statement, ast.ImportFrom) and module_of(each.statement) == line.module
            for each in imports_of(self.files, source)
        )

    def _beside(self, source: Source, statement: ast.stmt, line: bytes) -> None:
        """A new statement under another one, in its block."""
        if shares_line(source, statement):
            self._add(source.path, Edit(source.end(statement), source.end(statement), b"; " + line))
            return
        at = tail_end(source, statement)
        indent = source.text.indent_at(source.start(statement))
        self._add(source.path, Edit(at, at, with_newline(indent + line + b"\n", source.text.newline)))
