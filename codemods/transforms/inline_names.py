"""What the names of an inlined body are called where the call is, so that each still means the same object.

In the same module they must not be shadowed; elsewhere they are imported from where the module has them, or read
through the module when somebody patches or rebinds them there."""

from __future__ import annotations

import ast

from codemods.schema.hazards import Hazard, Refusal, Severity
from codemods.source.binder import table
from codemods.source.files import FileSet
from codemods.source.import_layout import Line
from codemods.source.imports import Import, binding_import, imports_of, resolve_dotted
from codemods.source.modules import modules_of
from codemods.source.parse import Source
from codemods.source.receivers import scope_at
from codemods.source.scopes import MODULE_NAMES, Occurrence, Role, Scope, lookup
from codemods.source.splice import Edit
from codemods.source.strings import mentions_through
from codemods.transforms.adjust_imports import Importer
from codemods.transforms.inline_body import Forwarder
from codemods.transforms.inline_late import LateImports, late_import
from codemods.transforms.rename_report import hazard, refusal


class Names:
    """The free names of one body, for any number of places."""

    def __init__(self, files: FileSet, forwarder: Forwarder) -> None:
        self.files, self.forwarder = files, forwarder
        self.source = forwarder.source
        self.home = table(self.source).module
        self.module = modules_of(files).module_of(self.source.path)
        self.importers: dict[str, Importer] = {}
        self.late: dict[str, LateImports] = {}
        self.hazards: list[Hazard] = []
        self.refusals: list[Refusal] = []
        self._patched: dict[str, bool] = {}

    def importer(self, source: Source) -> Importer:
        return self.importers.setdefault(source.path, Importer(self.files, source))

    def at(self, source: Source, call: ast.Call) -> dict[tuple[int, int], str]:
        """Spans in the body, and what to write for them at the call. Adds to `hazards` and `refusals`."""
        scope = scope_at(source, call)
        found: dict[tuple[int, int], str] = {}
        for occurrence in self.forwarder.free:
            span, text = self._one(source, call, scope, occurrence)
            if text:
                found[span] = text
        self._check_mangled(source, call)
        return found

    def _one(self, source: Source, call: ast.Call, scope: Scope, occurrence: Occurrence) -> tuple[tuple[int, int], str]:
        span = occurrence.start, occurrence.end
        name = occurrence.name
        is_same_file = source.path == self.source.path
        home = lookup(occurrence.scope, name)
        there = lookup(scope, name)
        if home is None:
            if there is not None:
                self._shadowed(source, call, name, "a builtin")
            elif not is_same_file and name in MODULE_NAMES:
                what = f"{name} would be that of {modules_of(self.files).module_of(source.path)}"
                self._refuse("U110", source, call, what)
            return span, ""
        if home is not self.home:
            self._refuse("U107", source, call, f"{name} belongs to the function around {self.forwarder.function.name}")
            return span, ""
        if is_same_file:
            if there is not self.home:
                self._shadowed(source, call, name, f"{self.module}.{name}")
            return span, ""
        return self._brought(source, call, scope, occurrence)

    def _brought(
        self, source: Source, call: ast.Call, scope: Scope, occurrence: Occurrence
    ) -> tuple[tuple[int, int], str]:
        name = occurrence.name
        span = occurrence.start, occurrence.end
        imports = binding_import(self.files, self.source, name)
        bound = self.home.bound[name]
        is_plain_import = len(imports) == len(bound) and all(each.is_plain for each in imports)
        if is_plain_import and any(not each.attribute and not each.alias.asname for each in imports):
            node, module = self._chain(occurrence, imports)
            span = self.source.start(node), self.source.end(node)
            return span, self._module(source, call, scope, name, module)
        if is_plain_import and len(imports) == 1 and not self._is_patched(name):
            only = imports[0]
            prefer = only.name if only.alias.asname else ""
            style = "name" if only.attribute else "module"
            return span, self._imported(source, call, scope, only.module, only.attribute, style=style, prefer=prefer)
        if isinstance(call.func, ast.Attribute) and self.forwarder.located.owner is None:
            through = resolve_dotted(self.files, source, call.func.value, scope)
            if through is not None and (through.module, through.name) == (self.module, ""):
                return span, f"{source.segment(call.func.value).decode()}.{name}"
        is_fixed = len(bound) == 1 and not self._is_patched(name)
        style = "name" if is_fixed and lookup(scope, name) is None else "module"
        return span, self._imported(source, call, scope, self.module, name, style=style)

    def _module(self, source: Source, call: ast.Call, scope: Scope, head: str, module: str) -> str:
        """How the call names a module that the body's file has by a plain `import a.b`."""
        late = late_import(self.files, source, call, scope)
        if self._can_import_as_is(source, scope, head, module):
            if late is not None and lookup(scope, head) is None:
                return self._beside(source).plain(late, module)
            if not any(each.module == module and not each.attribute for each in imports_of(self.files, source)):
                self.importer(source).add(Line(module))
            return module
        return self._imported(source, call, scope, module, "", style="module")

    def _imported(
        self, source: Source, call: ast.Call, scope: Scope, module: str, name: str, *, style: str, prefer: str = ""
    ) -> str:
        importer, at = self.importer(source), source.start(call)
        statement = late_import(self.files, source, call, scope)
        if statement is None:
            brought = importer.need(module, name, style=style, at=at, prefer=prefer)
            self.hazards.extend(brought.hazards)
            return brought.text
        found = importer.present(module, name, style, at, prefer)
        if found:
            return found
        late = self._beside(source)
        if style == "name":
            return late.need(statement, module, name, scope=scope, prefer=prefer)
        local = late.need(statement, module, "", scope=scope, prefer=prefer)
        return f"{local}.{name}" if name else local

    def _beside(self, source: Source) -> LateImports:
        return self.late.setdefault(source.path, LateImports(source, self.importer(source)))

    def edits(self, path: str) -> list[Edit]:
        """The imports that were found necessary in a file."""
        importer, late = self.importers.get(path), self.late.get(path)
        return [*(importer.edits() if importer is not None else []), *(late.edits() if late is not None else [])]

    def _can_import_as_is(self, source: Source, scope: Scope, head: str, module: str) -> bool:
        """Whether `import a.b` may stand there as it does in the body's module: from outside, and `a` is free."""
        home = lookup(scope, head)
        bound = home.bound[head] if home is not None else []
        is_free = home is None or (
            home is table(source).module
            and len(binding_import(self.files, source, head)) == len(bound)
            and all(not each.attribute for each in binding_import(self.files, source, head))
        )
        return is_free and modules_of(self.files).path_of(module) is None

    def _chain(self, occurrence: Occurrence, imports: list[Import]) -> tuple[ast.AST, str]:
        """`a.b.c` of `a.b.c.f`, where `import a.b.c` binds only `a`."""
        best: tuple[ast.AST, str] = (occurrence.node, occurrence.name)
        node: ast.AST = occurrence.node
        modules = {each.module for each in imports}
        written = occurrence.name
        while isinstance(above := self.source.parents.get(node), ast.Attribute):
            node, written = above, f"{written}.{above.attr}"
            if written in modules:
                best = (node, written)
        return best

    def _is_patched(self, name: str) -> bool:
        """Whether some text of the tree replaces the name in the module, as tests do."""
        if name not in self._patched:
            found = mentions_through(self.files, self.module, name)
            self._patched[name] = any(each.kind in ("patch-target", "setattr-name") for each in found)
        return self._patched[name]

    def _check_mangled(self, source: Source, call: ast.Call) -> None:
        owner = self.forwarder.located.owner
        around = source.enclosing(call, ast.ClassDef)
        for node in ast.walk(self.forwarder.expression):
            name = node.attr if isinstance(node, ast.Attribute) else node.id if isinstance(node, ast.Name) else ""
            if owner is None or not name.startswith("__") or name.endswith("__"):
                continue
            if not isinstance(around, ast.ClassDef) or around.name.lstrip("_") != owner.name.lstrip("_"):
                self._refuse("U105", source, call, f"{name} is a private name of {owner.name}")
                return

    def _shadowed(self, source: Source, call: ast.Call, name: str, what: str) -> None:
        self._refuse("U107", source, call, f"{name} is bound to something else here; the body means {what}")

    def _refuse(self, code: str, source: Source, call: ast.Call, message: str) -> None:
        settle = "inline this call by hand first, or rename what stands in the way"
        self.refusals.append(refusal(code, source.path, call.lineno, message, settle))


def role_names(source: Source, start: int, end: int) -> list[str]:
    """The names that code reads, in the order of the text."""
    found = [each.name for each in table(source).between(start, end) if each.role is Role.LOAD]
    return list(dict.fromkeys(found))


def prove(code: str, source: Source, node: ast.AST, message: str, settle: str) -> Hazard:
    """A hazard that a twin run settles."""
    return hazard(code, Severity.PROVE, source.path, source.line(node), message, settle)
