"""How the other files follow when a module-level name gets another one: imports, what they bind, `module.name`, stars.

A file whose own names leave no room keeps the old name as an alias (`from m import new as old`); who reads it through
that file then sees no change. Strings are rename_strings.py's."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator

from codemods.schema.hazards import Refusal
from codemods.source.binder import table
from codemods.source.files import FileSet
from codemods.source.forward_refs import quoted_attributes
from codemods.source.glimpse import glimpse
from codemods.source.imports import Import, Origin, imports_of, origin, resolve_dotted
from codemods.source.index import has_word, mentioning
from codemods.source.kept_text import keep_printed
from codemods.source.mentions import attributes
from codemods.source.module_facts import module_facts
from codemods.source.modules import modules_of
from codemods.source.nodes import statements
from codemods.source.parse import Source, light_tree, load
from codemods.source.receivers import scope_at
from codemods.source.scopes import Occurrence, Scope, ScopeKind, lookup
from codemods.source.splice import Edit
from codemods.source.string_text import text_of
from codemods.source.string_use import callee
from codemods.transforms.rename_report import refusal
from codemods.transforms.rename_variable import (
    Obstacle,
    aliased,
    meant,
    mixed,
    reading_scope,
    reads_before_bound,
    rename_variable,
)


class FileUses:
    """What one file needs. carries: its module-level `old` gets the new name, so whoever reads it there follows."""

    def __init__(self, source: Source) -> None:
        self.source = source
        self.edits: list[Edit] = []
        self.problems: list[Refusal] = []
        self.carries = False


class Uses:
    """Answers for all files of one renaming; `home` is where the name is defined, `path` its file."""

    def __init__(self, files: FileSet, home: Origin, path: str, new: str, *, is_exported: bool) -> None:
        self.files, self.home, self.path, self.new = files, home, path, new
        self.old = home.name
        self.is_exported = is_exported  # a star import of the home goes on bringing the name
        self.modules = modules_of(files)
        self._known: dict[str, FileUses] = {}
        self._pending: set[str] = set()

    def of(self, path: str) -> FileUses:
        """What an importing file needs. Raises Unparsable."""
        if path not in self._known:
            self._pending.add(path)
            # Only who has the new name already can be in its way: else a glimpse of the file tells enough.
            is_near = has_word(self.files.read(path), self.new.encode())
            source = load(self.files, path) if is_near else glimpse(self.files, path, self.old)
            self._known[path] = self._follow(source)
            self._pending.discard(path)
        return self._known[path]

    def carries(self, path: str | None) -> bool:
        """Whether the module-level name of a file is renamed."""
        if path == self.path:
            return True
        return path is not None and path not in self._pending and self.of(path).carries

    @property
    def keeps_alias(self) -> list[str]:
        """Files that go on binding the old name at module level."""
        return sorted(path for path, uses in self._known.items() if uses.edits and not uses.carries)

    # -- one file

    def _follow(self, source: Source) -> FileUses:
        uses = FileUses(source)
        followed = [each for each in imports_of(self.files, source) if self._leads_home(source, each)]
        for each in followed:
            if each.name != self.old:
                uses.edits.append(self._imported(source, each, f"{self.new}"))
        for scope in {each.scope: None for each in followed if each.name == self.old}:
            same = [each for each in followed if each.scope is scope and each.name == self.old]
            self._rebind(uses, scope, same)
        spans = [*self._through_star(uses), *self._members(uses)]
        tokens = [Edit(start, end, self.new.encode()) for start, end in spans]
        kept = keep_printed(source, [(edit.start, edit.end) for edit in tokens])
        uses.edits += [*tokens, *kept.edits]
        for at in kept.unkept:
            message = "what this f-string prints with `=` can't be written into its string"
            uses.problems.append(refusal("U107", source.path, source.text.line_of(at), message, "write the text out"))
        return uses

    def _leads_home(self, source: Source, each: Import) -> bool:
        if each.attribute != self.old:
            return False
        holder = self.modules.path_of(each.module, near=source.path)
        return self._is_home(holder) and self.carries(holder)

    def _is_home(self, holder: str | None) -> bool:
        return holder is not None and origin(self.files, self.modules.module_of(holder), self.old) == self.home

    def _imported(self, source: Source, each: Import, text: str) -> Edit:
        start = source.start(each.alias)
        return Edit(start, start + len(self.old.encode()), text.encode())

    def _rebind(self, uses: FileUses, scope: Scope, same: list[Import]) -> None:
        """The variable that the imports bind gets the new name; where it can't, they bind the old one by an alias."""
        source = uses.source
        aliases = {id(each.alias) for each in same}

        def import_edit(occurrence: Occurrence) -> Edit | Obstacle:
            if id(occurrence.node) not in aliases:
                return aliased(source, occurrence, self.new)
            alias = occurrence.node
            text = f"{self.new} as {self.new}" if getattr(alias, "asname", None) else self.new
            return Edit(source.start(alias), source.end(alias), text.encode())

        is_module = scope.kind is ScopeKind.MODULE
        is_mixed = len(scope.bound[self.old]) != len(same)
        renaming = rename_variable(source, scope, self.old, self.new, import_edit=import_edit)
        # In a class body the name is an attribute as well: it stays.
        is_attribute = scope.kind is ScopeKind.CLASS
        if (
            renaming.obstacles
            or is_attribute
            or (is_module and (is_mixed or star_brings(self.files, source, self.new)))
        ):
            for each in same:
                text = self.new if each.alias.asname else f"{self.new} as {self.old}"
                uses.edits.append(self._imported(source, each, text))
        else:
            uses.edits.extend(renaming.edits)
            uses.carries = uses.carries or is_module

    def _through_star(self, uses: FileUses) -> Iterator[tuple[int, int]]:
        source = uses.source
        module = table(source).module
        if not module.has_star_import:
            return
        if not self._brought(source):
            return
        if self.old in module.bound:
            for each in reads_before_bound(source, module, self.old):
                line = source.text.line_of(each.start)
                message = f"this {self.old} may come from a star import or be the module's own"
                uses.problems.append(refusal("U119", source.path, line, message, "import it by name first"))
            return
        uses.carries = True
        for obstacle in mixed(source, self.old):
            uses.problems.append(refusal("U107", source.path, obstacle.line, obstacle.message, "choose another name"))
        for occurrence in table(source).named(self.old):
            if meant(source, occurrence) is not None:
                continue
            line = source.text.line_of(occurrence.start)
            if not self.is_exported:
                message = f"{self.old} comes from a star import, which does not bring {self.new}"
                uses.problems.append(refusal("U119", source.path, line, message, "import it by name first"))
            elif lookup(occurrence.scope, self.new) is not None or star_brings(self.files, source, self.new):
                message = f"{self.new} means something else here, so {self.old} can't be read under that name"
                uses.problems.append(refusal("U107", source.path, line, message, "choose another name"))
            else:
                yield occurrence.start, occurrence.end

    # -- module.name

    def _members(self, uses: FileUses) -> Iterator[tuple[int, int]]:
        source = uses.source
        size = len(self.old.encode())
        for mention in attributes(source.text, source.tree, self.old):
            scope = scope_at(source, mention.node)
            if self._is_holder(source, mention.node.value, scope):
                end = source.end(mention.node)
                yield end - size, end
            elif self._may_be_holder(source, mention.node.value, scope):
                line = source.line(mention.node)
                message = f"{ast.unparse(mention.node.value)} is a module here or something else, as it happens"
                uses.problems.append(
                    refusal("U119", source.path, line, message, "give the other thing another name first")
                )
        for quoted in quoted_attributes(source, self.old):
            scope = scope_at(source, quoted.node)
            if self._is_holder(source, quoted.expression.value, scope):
                yield quoted.span

    def _is_holder(self, source: Source, node: ast.expr, scope: Scope) -> bool:
        """Whether an expression is a module whose attribute is renamed."""
        scope = reading_scope(source, node, scope)
        found = resolve_dotted(self.files, source, node, scope)
        module = found.module if found is not None and not found.name else _loaded(source, node, scope)
        if not module:
            return False
        holder = self.modules.path_of(module, near=source.path)
        return self._is_home(holder) and self.carries(holder)

    def _may_be_holder(self, source: Source, node: ast.expr, scope: Scope) -> bool:
        """Whether a name is bound to such a module among other things."""
        home = lookup(scope, node.id) if isinstance(node, ast.Name) else None
        if home is None or not isinstance(node, ast.Name):
            return False
        found = [each for each in imports_of(self.files, source) if each.scope is home and each.name == node.id]
        if len(home.bound[node.id]) == len(found) and len({each.module for each in found}) < 2:
            return False
        for each in found:
            module = f"{each.module}.{each.attribute}" if each.attribute else each.module
            if not each.attribute and not each.alias.asname:
                module = module.partition(".")[0]
            holder = self.modules.path_of(module, near=source.path)
            if self._is_home(holder) and self.carries(holder):
                return True
        return False

    def star_victims(self) -> Iterator[Refusal]:
        """Files that get the new name by a star import, and have something of that name already."""
        for path in mentioning(self.files, self.new):
            if path == self.path or b"*" not in self.files.read(path):
                continue
            source = load(self.files, path)
            if not self.is_exported or not self._brought(source):
                continue
            module = table(source).module
            for each in table(source).named(self.new):
                if lookup(each.scope, self.new) in (None, module):
                    line = source.text.line_of(each.start)
                    message = f"a star import would bring {self.new} here, where the name means something else"
                    yield refusal("U107", path, line, message, "choose another name")
                    break

    def _brought(self, source: Source) -> bool:
        """Whether a star import of the file brings what is renamed; of several that have the name the last one does."""
        for star in reversed(module_facts(self.files, source.path).stars):
            holder = self.modules.path_of(star, near=source.path)
            if holder is not None and _exports(self.files, holder, self.old, frozenset({source.path})):
                return self._is_home(holder) and self.carries(holder)
        return False


def star_brings(files: FileSet, source: Source, name: str) -> bool:
    """Whether a star import of the file may bind the name."""
    holders = [modules_of(files).path_of(star, near=source.path) for star in module_facts(files, source.path).stars]
    return any(holder is not None and _exports(files, holder, name, frozenset({source.path})) for holder in holders)


def _exports(files: FileSet, path: str, name: str, seen: frozenset[str]) -> bool:
    """Whether a star import of a file brings the name, for all that is known without `__all__`."""
    facts = module_facts(files, path)
    if "__all__" in facts.bound:  # built from other lists it may hold more; then nothing here hinges on it
        return re.search(rb"['\"]" + re.escape(name.encode()) + rb"['\"]", files.read(path)) is not None
    if name in facts.bound:
        return not name.startswith("_")
    holders = [modules_of(files).path_of(star, near=path) for star in facts.stars]
    return any(each is not None and each not in seen and _exports(files, each, name, seen | {path}) for each in holders)


def candidates(files: FileSet, old: str) -> Iterator[str]:
    """Files that import the name, import everything from somewhere, or read `.old` of something imported."""
    word = re.escape(old.encode())
    by_text = re.compile(rb"\bimport_module\b|\bmodules\b|['\"][^'\"\n]*\." + word + rb"\b")
    for path in mentioning(files, old):
        raw = files.read(path)
        if b"import" not in raw:
            continue
        text, tree = light_tree(files, path)
        imports = [node for node in statements(tree) if isinstance(node, (ast.Import, ast.ImportFrom))]
        names = [(alias, isinstance(node, ast.ImportFrom)) for node in imports for alias in node.names]
        if any(is_from and alias.name in {old, "*"} for alias, is_from in names):
            yield path
            continue
        bound = {alias.asname or alias.name.partition(".")[0] for alias, _ in names}
        if by_text.search(raw) or any(_head(mention.node) in bound for mention in attributes(text, tree, old)):
            yield path


def _head(node: ast.expr) -> str:
    while isinstance(node, ast.Attribute):
        node = node.value
    return node.id if isinstance(node, ast.Name) else ""


def _loaded(source: Source, node: ast.expr, scope: Scope) -> str:
    """The module that `importlib.import_module("m")` or `sys.modules["m"]` gives; "" for anything else."""
    named: ast.expr | None = None
    if isinstance(node, ast.Call) and callee(node)[-1:] == ["import_module"] and len(node.args) == 1:
        named = node.args[0]
    elif isinstance(node, ast.Subscript) and isinstance(node.value, ast.Attribute) and node.value.attr == "modules":
        named = node.slice
    text = text_of(source, named, scope) if named is not None else None
    return text.value if text is not None and text.is_known else ""
