"""The places that refer to a module-level name (function, class or constant): through imports, aliases, modules and
re-exports, also inside functions.

A file counts only when it imports the name, or something through which the name is read; the rest is parsed at most
once, without scopes."""

from __future__ import annotations

import ast
from collections.abc import Iterator

from codemods.source.binder import table
from codemods.source.class_names import qualname_of
from codemods.source.classes import ClassKey
from codemods.source.files import FileSet
from codemods.source.glimpse import glimpse
from codemods.source.imports import Import, Origin, imports_of, origin, resolve_dotted
from codemods.source.index import mentioning
from codemods.source.locate import Located, flattened
from codemods.source.mentions import attributes
from codemods.source.modules import modules_of
from codemods.source.parse import DEFINITIONS, Source, light_tree, load
from codemods.source.receivers import scope_at
from codemods.source.scopes import Occurrence, Role, Scope, ScopeKind, chain, lookup
from codemods.source.sites import CallSite, CallSites, Certainty, SiteKind, site_of


def function_sites(files: FileSet, located: Located) -> CallSites:
    """All places of a module-level name. Raises Unparsable for a file that mentions it and does not parse."""
    search = _Search(files, Origin(modules_of(files).module_of(located.path), located.ref.name), located.path)
    found: dict[tuple[str, int, int], CallSite] = {}
    for word in search.words:  # grows while aliases are found
        for path in mentioning(files, word):
            for site in search.in_file(path, word):
                found.setdefault((site.path, site.start, site.end), site)
    ordered = sorted(found.values(), key=lambda site: (site.path, site.start))
    return CallSites(ref=located.ref, sites=tuple(ordered), is_unique=True)


class _Search:
    def __init__(self, files: FileSet, home: Origin, path: str) -> None:
        self.files, self.home, self.path = files, home, path
        self.words = [home.name]

    def in_file(self, path: str, word: str) -> list[CallSite]:
        if path != self.path and not self.may_refer(path, word):
            return []
        source = glimpse(self.files, path, word)
        found = list(self.imported(source, word))
        if any(name != word for name, _ in found):  # the other name may stand in functions that a glimpse leaves out
            source = load(self.files, path)
            found = list(self.imported(source, word))
        names = dict.fromkeys([word, *(name for name, _ in found)])
        sites = [site for _, site in found]
        scopes = table(source)
        for name in names:
            for occurrence in scopes.named(name):
                site = self.named(source, occurrence)
                if site is not None:
                    sites.append(site)
        for mention in attributes(source.text, source.tree, word):
            scope = scope_at(source, mention.node)
            if resolve_dotted(self.files, source, mention.node, scope) == self.home:
                sites.append(self.site(source, mention.node, scope))
        return sites

    def may_refer(self, path: str, word: str) -> bool:
        """Whether the file imports the name, imports everything from somewhere, or reads `.name` of an import."""
        text, tree = light_tree(self.files, path)
        bound: set[str] = set()
        for statement in _imports(tree.body):
            for alias in statement.names:
                if isinstance(statement, ast.ImportFrom) and alias.name in {word, "*"}:
                    return True
                bound.add(alias.asname or alias.name.partition(".")[0])
        return any(_head(mention.node) in bound for mention in attributes(text, tree, word))

    def imported(self, source: Source, word: str) -> Iterator[tuple[str, CallSite]]:
        for each in imports_of(self.files, source):
            if each.attribute == word and self.leads_home(source, each):
                if each.at_module_level and each.name not in self.words:
                    self.words.append(each.name)
                yield each.name, site_of(source, each.alias, SiteKind.IMPORT)

    def leads_home(self, source: Source, each: Import) -> bool:
        modules = modules_of(self.files)
        holder = modules.path_of(each.module, near=source.path)
        module = modules.module_of(holder) if holder is not None else each.module
        return origin(self.files, module, each.attribute) == self.home

    def named(self, source: Source, occurrence: Occurrence) -> CallSite | None:
        """The site of a bare name, when the name means our object there."""
        if occurrence.role not in (Role.LOAD, Role.DELETE, Role.STORE):
            return None
        scope, name = occurrence.scope, occurrence.name
        bound_in = lookup(scope, name)
        if occurrence.role is not Role.LOAD:
            is_own = source.path == self.path and bound_in is table(source).module and name == self.home.name
            is_definition = isinstance(source.parents.get(occurrence.node), (ast.Assign, ast.AnnAssign))
            return self.site(source, occurrence.node, scope) if is_own and not is_definition else None
        if bound_in is None:
            here = modules_of(self.files).module_of(source.path)
            is_ours = table(source).module.has_star_import and origin(self.files, here, name) == self.home
            return self.site(source, occurrence.node, scope, span=occurrence) if is_ours else None
        if resolve_dotted(self.files, source, ast.Name(name, ast.Load()), scope) == self.home:
            return self.site(source, occurrence.node, scope, span=occurrence)
        imports = [each for each in imports_of(self.files, source) if each.scope is bound_in and each.name == name]
        if any(each.attribute and self.leads_home(source, each) for each in imports):
            reason = f"{name} is bound in several ways"
            return self.site(source, occurrence.node, scope, span=occurrence, reason=reason)
        return None

    def site(
        self, source: Source, node: ast.AST, scope: Scope, *, span: Occurrence | None = None, reason: str = ""
    ) -> CallSite:
        certainty = Certainty.POSSIBLE if reason else Certainty.SURE
        around = next((at for at in chain(scope) if at.kind is ScopeKind.CLASS), None)
        here = modules_of(self.files).module_of(source.path)
        enclosing = ClassKey(here, qualname_of(around)) if around is not None else None
        return site_of(
            source,
            node,
            SiteKind.FUNCTION_CALL,
            certainty=certainty,
            enclosing_class=enclosing,
            reason=reason,
            span=(span.start, span.end) if span is not None else None,
        )


def _imports(body: list[ast.stmt]) -> Iterator[ast.Import | ast.ImportFrom]:
    for statement in flattened(body):
        if isinstance(statement, (ast.Import, ast.ImportFrom)):
            yield statement
        elif isinstance(statement, DEFINITIONS):
            yield from _imports(statement.body)


def _head(node: ast.expr) -> str:
    while isinstance(node, ast.Attribute):
        node = node.value
    return node.id if isinstance(node, ast.Name) else ""
