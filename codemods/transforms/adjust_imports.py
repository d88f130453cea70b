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
from codemods.source.import_layout import Line
from codemods.source.import_merge import add_lines
from codemods.source.imports import Import, Origin, imports_of, origin
from codemods.source.modules import modules_of
from codemods.source.parse import FUNCTIONS, Function, Source
from codemods.source.scopes import BUILTINS, Scope, ScopeKind, chain, lookup
from codemods.source.splice import Edit
from codemods.source.star_imports import overriding_star, star_bringing
from codemods.transforms.local_imports import local_edit, scope_at


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

    def __init__(
        self, files: FileSet, source: Source, *, taken: set[str] | None = None, like: Source | None = None
    ) -> None:
        self.files, self.source = files, source
        self.modules = modules_of(files)
        self.scopes = table(source)
        self.taken = set(taken or ())  # names that code to be added binds itself
        self.like = like  # whose relative or absolute imports are followed where this file has none of its own package
        self.replaced: list[Import] = []  # for type checkers only; a real import takes their place and they may go
        self._wanted: dict[Line, int] = {}
        self._local: dict[Function, list[Line]] = {}
        self._given: dict[tuple[str, str, str], list[str]] = {}  # the local names under which a thing will be had
        self._leaves_module: set[str] = set()

    def give(self, module: str, name: str, local: str) -> None:
        """An import at module level that an edit of somebody else makes bring `module.name`."""
        self._given.setdefault((module, name, "name"), []).append(local)

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
        if style == "module" and name and not self._is_attribute(module):
            style = "name"  # the package binds something else under the module's name
        found = self.present(module, name, style, at, prefer)
        if found:
            return Brought(text=found)
        function = self._function_at(at)
        key = (module, name, style)
        is_local = lazy or self.is_circular(module)
        if is_local and not (at is None or function is not None):
            where = self.source.text.line_of(at)
            return Brought(text=self._spell(module, name, style, ""), hazards=(self.cycle_hazard(module, where),))
        given = self._given_at(key, scope, prefer) if not is_local else ""
        if given:
            self._keep_above(given, at)
            return Brought(text=self._spell(module, name, style, given))
        line, local = self._line(module, name, style, scope, prefer)
        text = self._spell(module, name, style, local)
        if not is_local:
            self.add(line, at)
            self._given.setdefault(key, []).append(local)
            self.replaced.extend(each for each in self._type_only(local, module, name, style))
            return Brought(text=text)
        if function is None:
            return Brought(text=text, local_line=line.text())
        self._local.setdefault(function, []).append(line)
        return Brought(text=text)

    def can_bring(self, module: str, name: str, local: str) -> bool:
        """Whether the module level can have `module.name` under exactly that local name (it may have it already)."""
        if self.present(module, name, "name", None, local) or local in self._given.get((module, name, "name"), []):
            return True
        return not self.is_circular(module) and self._is_free(local, self.scopes.module, module, name, "name")

    def add(self, line: Line, at: int | None = None) -> None:
        """An import that is wanted as it stands. at: the code that needs it."""
        where = len(self.source.body) if at is None else at
        self._wanted[line] = min(where, self._wanted.get(line, where))
        self.taken.add(line.alias or line.name or line.module.partition(".")[0])

    def edits(self) -> list[Edit]:
        """All edits, to be applied together with those that use the names."""
        found = add_lines(self.source, self._wanted, line_length=self.files.line_length, owns=self.owns)
        for function, lines in self._local.items():
            found.append(local_edit(self.source, function, [line.text() for line in sorted(set(lines))]))
        return found

    @property
    def lines(self) -> list[Line]:
        """The module-level imports that were found necessary."""
        return list(self._wanted)

    def owns(self, top: str) -> bool:
        """Whether a top-level name is a package or module of the tree."""
        return self.modules.path_of(top) is not None or self.modules.is_package_directory(top)

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

    def present(self, module: str, name: str, style: str, at: int | None, prefer: str = "") -> str:
        """How an import that is there names the thing at an offset; "" when none does."""
        scope = self._scope_at(at)
        wanted = origin(self.files, module, name)
        for found in imports_of(self.files, self.source):
            if found.attribute == "*" or not self._is_visible(found, scope, at):
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

    def _is_visible(self, found: Import, scope: Scope, at: int | None) -> bool:
        if found.guards or found.name in self._leaves_module:
            return False
        home = lookup(scope, found.name)
        if home is not found.scope or len(found.scope.bound[found.name]) > 1:
            return False
        is_above = at is None or self.source.end(found.statement) <= at
        if found.scope.kind is ScopeKind.MODULE:
            return is_above and not overriding_star(self.files, self.source, found.name)
        return is_above and found.scope.kind is ScopeKind.FUNCTION

    # -- what is added

    def is_circular(self, module: str) -> bool:
        """Whether a module-level import of the module would close a cycle that is not there yet."""
        target = self.modules.path_of(module)
        if target is None or target == self.source.path:
            return False
        plain = [found for found in imports_of(self.files, self.source) if found.is_plain]
        if any(self.modules.path_of(found.module, near=self.source.path) == target for found in plain):
            return False
        return bool(cycle(self.files, self.source.path, target))

    def _is_attribute(self, module: str) -> bool:
        """Whether `from package import module` gives the module."""
        package, _, leaf = module.rpartition(".")
        return not package or origin(self.files, package, leaf) in (
            Origin(module, ""),
            Origin(package, leaf, is_external=True),
        )

    def _given_at(self, key: tuple[str, str, str], scope: Scope, prefer: str) -> str:
        """A name that an import found necessary before gives the thing, where the scope can read it."""
        return next(
            (
                each
                for each in self._given.get(key, [])
                if (not prefer or each == prefer) and lookup(scope, each) in (None, self.scopes.module)
            ),
            "",
        )

    def _keep_above(self, local: str, at: int | None) -> None:
        """An import that was found necessary before may be needed further up now."""
        if at is None:
            return
        for line in self._wanted:
            if local in (line.alias, line.name, line.module):
                self._wanted[line] = min(self._wanted[line], at)

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

    def written(self, module: str) -> str:
        """How an import in this file spells the module."""
        return (
            relative_to(self.modules.package_of(self.source.path), module) if self.writes_relative(module) else module
        )

    def written_within(self, module: str) -> str:
        """As a relative import in this file spells the module, where they share a package."""
        package = self.modules.package_of(self.source.path)
        shares = bool(package) and package.partition(".")[0] == module.partition(".")[0]
        return relative_to(package, module) if shares else module

    def writes_relative(self, module: str) -> bool:
        """Whether this file would name the module relatively: all its imports of its own package are relative."""
        top = self.modules.package_of(self.source.path).partition(".")[0]
        if not top or module.partition(".")[0] != top:
            return False
        style = self._style(self.source, top)
        return (style if style is not None or self.like is None else self._style(self.like, top)) is True

    def _style(self, source: Source, top: str) -> bool | None:
        """True where all imports of the package are relative, None where there are none."""
        statements = [found.statement for found in imports_of(self.files, source) if found.at_module_level]
        relative = any(isinstance(node, ast.ImportFrom) and node.level for node in statements)
        absolute = any(
            (isinstance(node, ast.ImportFrom) and not node.level and (node.module or "").partition(".")[0] == top)
            or (isinstance(node, ast.Import) and node.names[0].name.partition(".")[0] == top)
            for node in statements
        )
        return None if not relative and not absolute else relative and not absolute

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
            return bool(self._type_only(local, module, name, style))
        if star_bringing(self.files, self.source, local):
            return False
        return not any(
            each.role.value == "load" and self.scopes.resolve(each) is None for each in self.scopes.named(local)
        )

    def _type_only(self, local: str, module: str, name: str, style: str) -> list[Import]:
        """What binds the name, when that is only imports of the very thing for type checkers: a real one replaces
        them."""
        found = [each for each in imports_of(self.files, self.source) if each.name == local and each.at_module_level]
        wanted = origin(self.files, module, name if style == "name" else "")
        is_same = len(found) == len(self.scopes.module.bound.get(local, [])) and all(
            each.type_checking_only and origin(self.files, each.module, each.attribute) == wanted for each in found
        )
        return found if is_same else []

    def _spell(self, module: str, name: str, style: str, local: str) -> str:
        local = local or (name if style == "name" else module.rpartition(".")[2])
        return local if style == "name" or not name else f"{local}.{name}"

    def cycle_hazard(self, module: str, line: int) -> Hazard:
        """U108 for a line of the file."""
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
