"""How one file follows when a module or package gets another dotted name: imports, the names they bind, `a.b.c` chains.

Only the module part of an import changes: an object of the same name that is imported from the module stays. Which
files move is rename_module.py's."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator

from msgspec import Struct

from codemods.source.binder import table
from codemods.source.files import FileSet
from codemods.source.forward_refs import quoted_attributes
from codemods.source.imports import Import, Origin, imports_of, origin, resolve_dotted
from codemods.source.mentions import attributes
from codemods.source.modules import Modules, modules_of
from codemods.source.parse import Source, load
from codemods.source.receivers import scope_at
from codemods.source.scopes import Occurrence, Role, Scope, ScopeKind, lookup
from codemods.source.splice import Edit
from codemods.transforms.adjust_imports import relative_to
from codemods.transforms.rename_report import refusal
from codemods.transforms.rename_uses import FileUses, star_brings
from codemods.transforms.rename_variable import Obstacle, aliased, reading_scope, rename_variable

_FROM = re.compile(rb"from((?:[ \t\x0c]|\\\r?\n)*)(\.*(?:[ \t]*(?!import\b)[\w.\x80-\xff]+)?)")

_DOTTED = re.compile(rb"[\w\x80-\xff]+(?:[ \t]*\.[ \t]*[\w\x80-\xff]+)*")


class NewName(Struct, frozen=True):
    """`old` and `new` are dotted. paths: where each file goes, old path -> new path."""

    old: str
    new: str
    paths: dict[str, str]

    @property
    def leaf(self) -> str:
        return self.old.rpartition(".")[2]

    @property
    def new_leaf(self) -> str:
        return self.new.rpartition(".")[2]

    @property
    def parent(self) -> str:
        return self.old.rpartition(".")[0]

    @property
    def stays_in_package(self) -> bool:
        return self.parent == self.new.rpartition(".")[0]

    def covers(self, module: str) -> bool:
        return module == self.old or module.startswith(f"{self.old}.")

    def of(self, module: str) -> str:
        return self.new + module[len(self.old) :] if self.covers(module) else module


class ModuleUses:
    """Answers for all files of one renaming."""

    def __init__(self, files: FileSet, moved: NewName) -> None:
        self.files, self.moved = files, moved
        self.modules: Modules = modules_of(files)
        self._known: dict[str, FileUses] = {}
        self._pending: set[str] = set()

    def of(self, path: str) -> FileUses:
        """What a file needs. Raises Unparsable."""
        if path not in self._known:
            self._pending.add(path)
            self._known[path] = self._follow(load(self.files, path))
            self._pending.discard(path)
        return self._known[path]

    def carries(self, module: str) -> bool:
        """Whether the module-level name by which a module of the tree knows the renamed one changes."""
        path = self.modules.path_of(module)
        return path is not None and path not in self._pending and self.of(path).carries

    # -- one file

    def _follow(self, source: Source) -> FileUses:
        uses = FileUses(source)
        by_statement: dict[int, list[Import]] = {}
        for each in imports_of(self.files, source):
            by_statement.setdefault(id(each.statement), []).append(each)
            if self._is_other_name(source, each):
                message = f"this imports the module by another name than {self.moved.old}"
                self._problem(uses, each.statement, message)
        named: list[Import] = []  # imports that bind the renamed module under its own name
        for same in by_statement.values():
            if isinstance(same[0].statement, ast.ImportFrom):
                named.extend(self._import_from(uses, same[0].statement, same))
            else:
                named.extend(self._plain_imports(uses, same))
        for scope in {each.scope: None for each in named}:
            self._rebind(uses, scope, [each for each in named if each.scope is scope])
        self._chains(uses)
        self._through_star(uses)
        return uses

    def _is_moved(self, source: Source, module: str) -> bool:
        if not self.moved.covers(module):
            return False
        path = self.modules.path_of(module, near=source.path)
        return path is None or path in self.moved.paths

    def _is_other_name(self, source: Source, each: Import) -> bool:
        """Whether an import reaches a file that moves under a name that does not start with the old one (a directory
        that is an import root and a package at once)."""
        names = [each.module, *([f"{each.module}.{each.attribute}"] if each.attribute not in ("", "*") else [])]
        return any(
            self.modules.path_of(name, near=source.path) in self.moved.paths and not self.moved.covers(name)
            for name in names
        )

    def _import_from(self, uses: FileUses, statement: ast.ImportFrom, same: list[Import]) -> Iterator[Import]:
        source = uses.source
        module = same[0].module
        target = self.moved.of(module) if self._is_moved(source, module) else module
        written = self._module_text(source, statement, module, target)
        if written is not None:
            match = _FROM.match(source.body, source.start(statement))
            assert match is not None
            if match[2].replace(b" ", b"") != b"." * statement.level + (statement.module or "").encode():
                self._problem(uses, statement, "this import is spelt in a way that can't be rewritten")
                return
            gap = b"" if match[1] or written.startswith(".") else b" "
            uses.edits.append(Edit(match.start(2), match.end(2), gap + written.encode()))
        for each in same:
            if each.attribute != self.moved.leaf or not self._is_the_module(source, module, each.attribute):
                continue
            is_direct = f"{module}.{each.attribute}" == self.moved.old
            if not is_direct and not self.carries(module):
                continue
            if is_direct and not self.moved.stays_in_package:
                self._split(uses, each, same)
            elif each.alias.asname:
                uses.edits.append(self._token(source, each, self.moved.new_leaf))
            else:
                yield each

    def _is_the_module(self, source: Source, module: str, name: str) -> bool:
        holder = self.modules.path_of(module, near=source.path)
        if holder is None:
            return f"{module}.{name}" == self.moved.old
        return origin(self.files, self.modules.module_of(holder), name) == Origin(self.moved.old, "")

    def _module_text(self, source: Source, statement: ast.ImportFrom, module: str, target: str) -> str | None:
        """The module part as it must be written in the file's new place; None when it can stay."""
        if statement.level == 0:
            return target if target != module else None
        package = self._new_package(source.path)
        kept = package.split(".")[: len(package.split(".")) - (statement.level - 1)] if package else []
        if ".".join([*kept, *([statement.module] if statement.module else [])]) == target:
            return None
        shares = package.partition(".")[0] == target.partition(".")[0]
        return relative_to(package, target) if shares else target

    def _new_package(self, path: str) -> str:
        """The package that relative imports of a file start from once it has its new place."""
        own = self.moved.of(self.modules.module_of(path)) if path in self.moved.paths else self.modules.module_of(path)
        return own if path.rpartition("/")[2].startswith("__init__.") else own.rpartition(".")[0]

    def _split(self, uses: FileUses, each: Import, same: list[Import]) -> None:
        """The module leaves its package, so it needs an import statement of its own."""
        if len(same) > 1:
            self._problem(
                uses, each.statement, f"{each.attribute} leaves its package, and is imported with others here"
            )
            return
        package, _, leaf = self.moved.new.rpartition(".")
        bound = each.alias.asname or each.attribute
        tail = f" as {bound}" if bound != leaf else ""
        text = f"from {package} import {leaf}{tail}" if package else f"import {leaf}{tail}"
        source = uses.source
        start, end = source.start(each.statement), source.end(each.statement)
        uses.edits[:] = [edit for edit in uses.edits if not (start <= edit.start and edit.end <= end)]
        uses.edits.append(Edit(start, end, text.encode()))

    def _plain_imports(self, uses: FileUses, same: list[Import]) -> Iterator[Import]:
        """`import a.b.core`, with and without `as`."""
        for each in same:
            if not self._is_moved(uses.source, each.module):
                continue
            new_top = self.moved.new.partition(".")[0]
            if each.alias.asname or each.module.partition(".")[0] == new_top:
                uses.edits.append(self._token(uses.source, each, self.moved.of(each.module)))
            elif not self.moved.parent:
                yield each
            else:
                self._other_top(uses, each)

    def _other_top(self, uses: FileUses, each: Import) -> None:
        """`import a.core` becomes `import b.core`: whatever else is read of `a` needs it to stay imported."""
        source, top = uses.source, each.name
        new_top = self.moved.new.partition(".")[0]
        others = [other for other in imports_of(self.files, source) if other.scope is each.scope and other.name == top]
        stays = [other for other in others if not self._is_moved(source, other.module)]
        reads = [
            occurrence
            for occurrence in table(source).named(top)
            if occurrence.role is Role.LOAD and lookup(occurrence.scope, top) is each.scope
        ]
        chained = {id(_head(node)) for node in self._full_chains(source)}
        needs_top = not stays and any(id(occurrence.node) not in chained for occurrence in reads)
        if new_top in each.scope.bound and not all(o.role is Role.IMPORT for o in each.scope.bound[new_top]):
            self._problem(uses, each.statement, f"{new_top} means something else in this file")
            return
        text = self.moved.of(each.module)
        uses.edits.append(self._token(source, each, f"{top}, {text}" if needs_top else text))

    def _token(self, source: Source, each: Import, text: str) -> Edit:
        """The imported name, dotted or not, blanks around its dots included."""
        start = source.start(each.alias)
        match = _DOTTED.match(source.body, start)
        assert match is not None
        return Edit(start, match.end(), text.encode())

    def _problem(self, uses: FileUses, node: ast.AST, message: str) -> None:
        line = uses.source.line(node)
        uses.problems.append(refusal("U107", uses.source.path, line, message, "rewrite this place by hand first"))

    # -- what the imports bind

    def _rebind(self, uses: FileUses, scope: Scope, same: list[Import]) -> None:
        source, moved = uses.source, self.moved
        aliases = {id(each.alias): each for each in same}

        def import_edit(occurrence: Occurrence) -> Edit | Obstacle:
            each = aliases.get(id(occurrence.node))
            if each is None:
                return aliased(source, occurrence, moved.new_leaf)
            if each.attribute:
                return self._token(source, each, moved.new_leaf)
            return self._token(source, each, moved.of(each.module))

        renaming = rename_variable(source, scope, moved.leaf, moved.new_leaf, import_edit=import_edit)
        is_mixed = len(scope.bound[moved.leaf]) != len(same)
        # In a class body the name is an attribute as well: it stays.
        is_mixed = is_mixed or scope.kind is ScopeKind.CLASS
        is_hidden = scope.kind is ScopeKind.MODULE and star_brings(self.files, source, moved.new_leaf)
        if not renaming.obstacles and not is_mixed and not is_hidden:
            uses.edits.extend(renaming.edits)
            uses.carries = uses.carries or scope.kind is ScopeKind.MODULE
            return
        for each in same:
            if each.attribute:
                uses.edits.append(self._token(source, each, f"{moved.new_leaf} as {moved.leaf}"))
            elif each.module == moved.old:
                uses.edits.append(self._token(source, each, f"{moved.new} as {moved.leaf}"))
            else:
                how = "is an attribute of the class" if scope.kind is ScopeKind.CLASS else "is bound in several ways"
                why = renaming.obstacles[0].message if renaming.obstacles else f"{moved.leaf} {how}"
                self._problem(uses, each.statement, f"`import {each.module}` can't follow: {why}")

    def _through_star(self, uses: FileUses) -> None:
        """A name that only a star import can bring: from a package, or from a module that renames it."""
        source, leaf = uses.source, self.moved.leaf
        module = table(source).module
        if not module.has_star_import or leaf in module.bound:
            return
        stars = [each.module for each in imports_of(self.files, source) if each.attribute == "*"]
        if not any(star == self.moved.parent or self.carries(star) for star in stars):
            return
        for occurrence in table(source).named(leaf):
            if lookup(occurrence.scope, leaf) is None:
                line = source.text.line_of(occurrence.start)
                message = f"{leaf} may come from a star import here"
                uses.problems.append(refusal("U119", source.path, line, message, "import it by name first"))

    # -- a.b.core

    def _chains(self, uses: FileUses) -> None:
        source, moved = uses.source, self.moved
        size = len(moved.leaf.encode())
        for mention in attributes(source.text, source.tree, moved.leaf):
            node = mention.node
            end = source.end(node)
            self._chain(uses, node, scope_at(source, node), (end - size, end), source.start(node))
        for quoted in quoted_attributes(source, moved.leaf):
            start = quoted.span[1] - len(ast.unparse(quoted.expression).encode())
            self._chain(uses, quoted.expression, scope_at(source, quoted.node), quoted.span, start)

    def _chain(self, uses: FileUses, node: ast.Attribute, scope: Scope, span: tuple[int, int], start: int) -> None:
        source, moved = uses.source, self.moved
        scope = reading_scope(source, node, scope)
        if resolve_dotted(self.files, source, node, scope) != Origin(moved.old, ""):
            return
        base = resolve_dotted(self.files, source, node.value, scope)
        if base is None or base.name:
            return
        is_direct = f"{base.module}.{moved.leaf}" == moved.old
        if not is_direct and not self.carries(base.module):
            return
        if moved.stays_in_package or not is_direct:
            uses.edits.append(Edit(*span, moved.new_leaf.encode()))
        elif ast.unparse(node) == moved.old and _is_dotted_import(self.files, source, node, scope):
            uses.edits.append(Edit(start, span[1], moved.new.encode()))
        else:
            line = source.text.line_of(start)
            message = f"{ast.unparse(node)} reaches the module through the package it leaves"
            uses.problems.append(refusal("U107", source.path, line, message, "import the module itself first"))

    def _full_chains(self, source: Source) -> Iterator[ast.Attribute]:
        for mention in attributes(source.text, source.tree, self.moved.leaf):
            if ast.unparse(mention.node) == self.moved.old:
                yield mention.node


def _head(node: ast.expr) -> ast.expr:
    while isinstance(node, ast.Attribute):
        node = node.value
    return node


def _is_dotted_import(files: FileSet, source: Source, node: ast.expr, scope: Scope) -> bool:
    """Whether the first name of a chain is bound by `import a.b.c` without `as`."""
    head = _head(node)
    home = lookup(scope, head.id) if isinstance(head, ast.Name) else None
    found = [each for each in imports_of(files, source) if each.scope is home and each.name == getattr(head, "id", "")]
    return bool(found) and all(not each.attribute and not each.alias.asname for each in found)
