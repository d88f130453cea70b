"""How code in a file may name a definition of another module: by an import that is there, or by one that is added.

Adds only; dropping what is no longer used is drop_imports.py's. Where a new line stands is import_layout.py's."""

from __future__ import annotations

import ast
import posixpath

from msgspec import Struct

from codemods.schema.hazards import Hazard, Severity
from codemods.source.binder import table
from codemods.source.files import FileSet
from codemods.source.import_graph import cycle
from codemods.source.import_layout import Line, add_lines, leading_imports
from codemods.source.imports import Import, imports_of, origin
from codemods.source.modules import modules_of
from codemods.source.parse import FUNCTIONS, Function, Source
from codemods.source.scopes import BUILTINS, Scope, ScopeKind, chain, lookup
from codemods.source.splice import Edit, with_newline


class Brought(Struct, frozen=True):
    """`text` is how to write the thing; `edits` belong to the file; `local_line` is an import for the body of code that
    is not in the file yet (it must not stand at module level)."""

    text: str
    edits: tuple[Edit, ...] = ()
    hazards: tuple[Hazard, ...] = ()
    local_line: str = ""


def bring(files: FileSet, source: Source, origin_module: str, name: str, *, style: str, at: int) -> Brought:
    """How code at byte offset `at` may name `origin_module.name` ("" for the module itself).

    style: "module" (`mod.name`) or "name". Reuses what is imported; else the edits add an import."""
    importer = Importer(files, source)
    found = importer.need(origin_module, name, style=style, at=at)
    return Brought(text=found.text, edits=tuple(importer.edits()), hazards=found.hazards)


class Importer:
    """Collects what one file needs, so that several needs share statements. `edits()` at the end."""

    def __init__(self, files: FileSet, source: Source, *, taken: set[str] | None = None) -> None:
        self.files, self.source = files, source
        self.modules = modules_of(files)
        self.scopes = table(source)
        self.taken = set(taken or ())  # names that code to be added binds itself
        self._lines: list[Line] = []
        self._local: dict[Function, list[Line]] = {}
        self._given: dict[tuple[str, str, str], str] = {}
        self._leaves_module: set[str] = set()

    def forget(self, *names: str) -> None:
        """Names the file's module level will no longer bind when the edits are applied."""
        self._leaves_module.update(names)

    def need(
        self,
        module: str,
        name: str,
        *,
        style: str = "name",
        at: int | None = None,
        prefer: str = "",
        lazy: bool = False,
    ) -> Brought:
        """As `bring`. at=None: for code that will be added at module level. prefer: the local name wanted.
        lazy: never at module level."""
        style = style if name else "module"
        scope = self._scope_at(at)
        own = self.modules.module_of(self.source.path)
        if module == own and name:
            return self._own_name(name, scope)
        found = self._present(module, name, style, scope, prefer)
        if found:
            return Brought(text=found)
        function = self._function_at(at)
        key = (module, name, style)
        is_circular = lazy or self._is_circular(module)
        if is_circular and not (at is None or function is not None):
            where = self.source.text.line_of(at)
            return Brought(text=self._spell(module, name, style, ""), hazards=(self._cycle_hazard(module, where),))
        if not is_circular and key in self._given and lookup(scope, self._given[key]) in (None, self.scopes.module):
            return Brought(text=self._spell(module, name, style, self._given[key]))
        line, local = self._line(module, name, style, scope, prefer)
        text = self._spell(module, name, style, local)
        if not is_circular:
            self._lines.append(line)
            self._given[key] = local
            self.taken.add(local)
            return Brought(text=text)
        if function is None:
            return Brought(text=text, local_line=line.text())
        self._local.setdefault(function, []).append(line)
        return Brought(text=text)

    def edits(self) -> list[Edit]:
        """All edits, to be applied together with those that use the names."""
        own = self.modules.module_of(self.source.path).partition(".")[0]
        found = add_lines(self.source, self._lines, line_length=self.files.line_length, own=own)
        for function, lines in self._local.items():
            offset, indent = body_start(self.source, function)
            text = b"".join(indent + line.text().encode() + b"\n" for line in sorted(set(lines)))
            found.append(Edit(offset, offset, with_newline(text + b"\n", self.source.text.newline)))
        return found

    @property
    def lines(self) -> list[Line]:
        """The module-level imports that were found necessary."""
        return list(self._lines)

    # -- what is there

    def _scope_at(self, at: int | None) -> Scope:
        return self.scopes.module if at is None else scope_at(self.source, at)

    def _function_at(self, at: int | None) -> Function | None:
        if at is None:
            return None
        scope: Scope | None = self._scope_at(at)
        while scope is not None:
            if isinstance(scope.node, FUNCTIONS):
                return scope.node
            scope = scope.parent
        return None

    def _own_name(self, name: str, scope: Scope) -> Brought:
        home = lookup(scope, name)
        if home is None or home is self.scopes.module:
            return Brought(text=name)
        hazard = Hazard(
            code="U107",
            severity=Severity.STOP,
            path=self.source.path,
            line=getattr(home.node, "lineno", 0),
            message=f"{name} is bound locally here, so the module's {name} can't be named",
            settle="rename the local first, or give the function another name",
        )
        return Brought(text=name, hazards=(hazard,))

    def _present(self, module: str, name: str, style: str, scope: Scope, prefer: str) -> str:
        wanted = origin(self.files, module, name)
        for found in imports_of(self.files, self.source):
            if found.attribute == "*" or not self._is_visible(found, scope):
                continue
            if style == "name" and found.attribute:
                leaf = found.attribute
                if leaf not in (name, wanted.name) or (prefer and found.name != prefer):
                    continue
                if origin(self.files, found.module, leaf) == wanted:
                    return found.name
            elif style == "module":
                text = self._as_module(found, module)
                if text:
                    return f"{text}.{name}" if name else text
        return ""

    def _as_module(self, found: Import, module: str) -> str:
        """How an import that is there spells the module; "" when it does not."""
        leaf = module.rpartition(".")[2]
        if found.attribute == leaf and found.module == module.rpartition(".")[0]:
            target = origin(self.files, found.module, found.attribute)
            return found.name if (target.name, target.module) == ("", module) else ""
        if not found.attribute and found.module == module:
            return found.name if found.alias.asname else found.module
        return ""

    def _is_visible(self, found: Import, scope: Scope) -> bool:
        if found.guards or found.name in self._leaves_module:
            return False
        home = lookup(scope, found.name)
        if home is not found.scope or len(found.scope.bound[found.name]) > 1:
            return False
        if found.scope.kind is ScopeKind.MODULE:
            return found.statement in leading_imports(self.source)
        return found.scope.kind is ScopeKind.FUNCTION and found.statement in getattr(found.scope.node, "body", [])

    # -- what is added

    def _is_circular(self, module: str) -> bool:
        target = self.modules.path_of(module)
        if target is None or target == self.source.path:
            return False
        plain = [found for found in imports_of(self.files, self.source) if found.is_plain]
        if any(self.modules.path_of(found.module, near=self.source.path) == target for found in plain):
            return False
        return bool(cycle(self.files, self.source.path, target))

    def _line(self, module: str, name: str, style: str, scope: Scope, prefer: str) -> tuple[Line, str]:
        leaf = name if style == "name" else module.rpartition(".")[2]
        parent = module.rpartition(".")[2 if style == "name" else 0].rpartition(".")[2]
        local = next(
            each for each in _candidates(prefer or leaf, parent) if self._is_free(each, scope, module, name, style)
        )
        alias = "" if local == leaf else local
        if style == "name":
            return Line(self.written(module), leaf, alias), local
        package = module.rpartition(".")[0]
        return (Line(self.written(package), leaf, alias) if package else Line(module, "", alias)), local

    def add(self, line: Line) -> None:
        """An import that is wanted as it stands."""
        self._lines.append(line)
        self.taken.add(line.alias or line.name or line.module.partition(".")[0])

    def written(self, module: str) -> str:
        """How an import in this file spells the module."""
        return (
            relative_to(self.modules.package_of(self.source.path), module) if self.writes_relative(module) else module
        )

    def writes_relative(self, module: str) -> bool:
        """Whether this file would name the module relatively: all its imports of its own package are relative."""
        own = self.modules.package_of(self.source.path)
        top = own.partition(".")[0]
        if not top or module.partition(".")[0] != top:
            return False
        statements = [found.statement for found in imports_of(self.files, self.source) if found.at_module_level]
        relative = any(isinstance(node, ast.ImportFrom) and node.level for node in statements)
        absolute = any(
            (isinstance(node, ast.ImportFrom) and not node.level and (node.module or "").partition(".")[0] == top)
            or (isinstance(node, ast.Import) and node.names[0].name.partition(".")[0] == top)
            for node in statements
        )
        return relative and not absolute

    def _is_free(self, local: str, scope: Scope, module: str, name: str, style: str) -> bool:
        """Whether the name can be bound at module level without capturing, or being captured by, anything."""
        if local in self.taken or (local in BUILTINS and local != name):
            return False
        for above in chain(scope):
            if above.kind is ScopeKind.MODULE or (above.kind is ScopeKind.CLASS and above is not scope):
                continue
            if local in above.bound or local in above.global_names:
                return False
        if local in self._leaves_module:
            return True
        if local in self.scopes.module.bound:
            return self._is_same_type_only(local, module, name, style)
        return not any(
            each.role.value == "load" and self.scopes.resolve(each) is None for each in self.scopes.named(local)
        )

    def _is_same_type_only(self, local: str, module: str, name: str, style: str) -> bool:
        """Bound only under TYPE_CHECKING, to the very thing that is wanted: a real import may stand beside it."""
        found = [each for each in imports_of(self.files, self.source) if each.name == local]
        wanted = origin(self.files, module, name if style == "name" else "")
        return len(found) == len(self.scopes.module.bound[local]) and all(
            each.type_checking_only and origin(self.files, each.module, each.attribute) == wanted for each in found
        )

    def _spell(self, module: str, name: str, style: str, local: str) -> str:
        local = local or (name if style == "name" else module.rpartition(".")[2])
        return local if style == "name" or not name else f"{local}.{name}"

    def _cycle_hazard(self, module: str, line: int) -> Hazard:
        return Hazard(
            code="U108",
            severity=Severity.STOP,
            path=self.source.path,
            line=line,
            message=f"this line runs at import and needs {module}, whose import leads back to this module",
            settle="choose another destination, or break the cycle first",
        )


def _candidates(leaf: str, parent: str) -> list[str]:
    """The names tried for an import, in order: its own, with the package in front, then numbered."""
    base = f"{parent}_{leaf}" if parent else f"{leaf}_module"
    return [leaf, base, *(f"{base}_{number}" for number in range(2, 100))]


def relative_to(package: str, module: str) -> str:
    """`module` as seen from inside `package`: `..util` for a.util from a.b."""
    inside, target = package.split("."), module.split(".")
    shared = len(posixpath.commonprefix([inside, target]))
    return "." * (len(inside) - shared + 1) + ".".join(target[shared:])


def scope_at(source: Source, at: int) -> Scope:
    """The innermost scope whose body holds the offset; a decorator or default belongs to the scope around."""
    scopes = table(source)
    current = scopes.module
    while True:
        inner = [child for child in current.children if _holds(source, child, at)]
        if not inner:
            return current
        current = inner[0]


def _holds(source: Source, scope: Scope, at: int) -> bool:
    node = scope.node
    if scope.kind in (ScopeKind.FUNCTION, ScopeKind.CLASS):
        body = node.body  # type: ignore[attr-defined]
        return source.text.line_start(source.start(body[0])) <= at < source.end(node) or _on_one_line(source, node, at)
    return source.start(node) <= at < source.end(node)


def _on_one_line(source: Source, node: ast.AST, at: int) -> bool:
    return source.start(node.body[0]) <= at < source.end(node)  # type: ignore[attr-defined]


def body_start(source: Source, function: Function) -> tuple[int, bytes]:
    """Offset of the line of the first statement after the docstring, the comments above it, and its indent."""
    body = function.body
    has_docstring = (
        isinstance(body[0], ast.Expr)
        and isinstance(body[0].value, ast.Constant)
        and isinstance(body[0].value.value, str)
        and len(body) > 1
    )
    first = body[1] if has_docstring else body[0]
    anchor = source.start(first)
    start = source.text.line_start(anchor)
    floor = source.end(body[0]) if has_docstring else source.start(function)
    while source.text.line_start(start - 1) > floor:
        above = source.text.line_start(start - 1)
        if not source.body[above:start].lstrip().startswith(b"#"):
            break
        start = above
    return start, source.text.indent_at(anchor)
