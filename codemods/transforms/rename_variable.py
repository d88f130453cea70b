"""One variable of one file under another name: every occurrence that means it, and what stands in the way.

Follows Python's scoping, quoted annotations and what f-strings print. Other files, attributes and strings are the
callers' (rename_definition.py, rename_module.py, …)."""

from __future__ import annotations

import ast
from collections.abc import Callable, Iterator

from msgspec import Struct

from codemods.source.binder import table
from codemods.source.forward_refs import quoted_names, type_comments
from codemods.source.kept_text import keep_printed
from codemods.source.parse import DEFINITIONS, Source
from codemods.source.receivers import scope_at
from codemods.source.scopes import BUILTINS, Occurrence, Role, Scope, ScopeKind, chain, lookup
from codemods.source.splice import Edit


class Obstacle(Struct, frozen=True):
    """Why a variable can't get the new name at one place."""

    line: int
    message: str


class Renaming(Struct, frozen=True):
    """`edits` rename the variable; they are only right when there are no obstacles."""

    edits: tuple[Edit, ...] = ()
    obstacles: tuple[Obstacle, ...] = ()


# The edit for an import that binds the variable; an Obstacle where it can't be written.
ImportEdit = Callable[[Occurrence], "Edit | Obstacle"]


def rename_variable(
    source: Source, home: Scope, old: str, new: str, *, import_edit: ImportEdit | None = None
) -> Renaming:
    """The variable `old` that `home` binds, as `new`."""
    edits: list[Edit] = []
    obstacles: list[Obstacle] = list(_clashes(source, home, old, new))
    for occurrence in meaning(source, home, old):
        found: Edit | Obstacle
        if occurrence.role is Role.IMPORT:
            found = (import_edit or (lambda each: aliased(source, each, new)))(occurrence)
        else:
            found = Edit(occurrence.start, occurrence.end, new.encode())
        if isinstance(found, Edit):
            edits.append(found)
        else:
            obstacles.append(found)
    quoted = quoted_names(source, old)
    edits += [Edit(*span, new.encode()) for span, node in quoted.spans if _reads(source, node, old) is home]
    obstacles += [
        Obstacle(source.line(node), f"{old} stands in a quoted type that is put together from pieces")
        for node in quoted.unclear
        if _reads(source, node, old) is home
    ]
    if home.kind is ScopeKind.MODULE:
        edits += [Edit(start, end, new.encode()) for start, end in type_comments(source, old)]
    kept = keep_printed(source, [(edit.start, edit.end) for edit in edits])
    obstacles.extend(
        Obstacle(source.text.line_of(at), "what this f-string prints with `=` can't be written into its string")
        for at in kept.unkept
    )
    return Renaming(tuple(sorted({*edits, *kept.edits})), tuple(dict.fromkeys(obstacles)))


def _reads(source: Source, node: ast.AST, name: str) -> Scope | None:
    return lookup(scope_at(source, node), name)


def aliased(source: Source, occurrence: Occurrence, new: str) -> Edit | Obstacle:
    """An import that goes on importing the same thing, bound to the new name."""
    alias = occurrence.node
    assert isinstance(alias, ast.alias)
    if alias.asname:
        return Edit(occurrence.start, occurrence.end, new.encode())
    if "." in alias.name:
        line = source.text.line_of(occurrence.start)
        return Obstacle(line, f"`import {alias.name}` binds {occurrence.name} and can bind no other name")
    return Edit(occurrence.end, occurrence.end, b" as " + new.encode())


def meaning(source: Source, home: Scope, name: str) -> list[Occurrence]:
    """Every occurrence in the file that means the variable, declarations (`global`, `nonlocal`) included."""
    return [each for each in table(source).named(name) if meant(source, each) is home]


def meant(source: Source, occurrence: Occurrence) -> Scope | None:
    """The scope whose variable an occurrence means. A read in a class body above the first binding there means the
    module's variable."""
    home = lookup(occurrence.scope, occurrence.name)
    if not _falls_through(source, occurrence, home):
        return home
    module = table(source).module
    return module if occurrence.name in module.bound else None


def _falls_through(source: Source, occurrence: Occurrence, home: Scope | None) -> bool:
    is_class = home is not None and home.kind is ScopeKind.CLASS and home is occurrence.scope
    is_read = occurrence.role is Role.LOAD
    return is_class and is_read and _is_before_binding(source, occurrence.node, occurrence.name, occurrence.scope)


def _is_before_binding(source: Source, node: ast.AST, name: str, home: Scope) -> bool:
    """In the text; `mixed` reports the scopes in which the order of the text does not settle it."""
    binding = min(home.bound[name], key=lambda each: each.start)
    # In one statement the value, the bases and the defaults are evaluated before the name is bound.
    is_same = source.statement_of(node) is source.statement_of(binding.node)
    is_in_class = isinstance(binding.node, ast.ClassDef) and any(
        each is binding.node for each in source.ancestors(node)
    )
    return is_same or is_in_class or source.start(node) < binding.start


def reading_scope(source: Source, node: ast.expr, scope: Scope) -> Scope:
    """Where the first name of `a.b.c` is looked up: in the module, for a read above a class's own binding."""
    while isinstance(node, ast.Attribute):
        node = node.value
    is_in_class = isinstance(node, ast.Name) and scope.kind is ScopeKind.CLASS and node in source.parents
    if is_in_class and node.id in scope.bound and _is_before_binding(source, node, node.id, scope):  # type: ignore[attr-defined]
        return table(source).module
    return scope


# -- what stands in the way


def _clashes(source: Source, home: Scope, old: str, new: str) -> Iterator[Obstacle]:
    if new in home.bound:
        line = source.text.line_of(home.bound[new][0].start)
        yield Obstacle(line, f"{new} is already bound in the same scope")
        return
    own = meaning(source, home, old)
    for occurrence in own:
        line = source.text.line_of(occurrence.start)
        if _after(occurrence.scope, home, old, new) is not home:
            yield Obstacle(line, f"{new} means something else here, so {old} can't be read under that name")
        if (is_mangled(old) or is_mangled(new)) and _class_around(occurrence.scope) is not _class_around(home):
            name = old if is_mangled(old) else new
            yield Obstacle(line, f"inside a class Python spells {name} with the name of the class")
    yield from _captured(source, home, old, new)
    if home.kind is ScopeKind.CLASS and home.parent is not None:
        yield from _freed(source, home, home.parent, old)
    if home.kind is ScopeKind.MODULE:
        yield from mixed(source, old)
        if old in BUILTINS or home.has_star_import:
            for each in reads_before_bound(source, home, old):
                line = source.text.line_of(each.start)
                yield Obstacle(line, f"this {old} may still be the one from outside of the module")


def _captured(source: Source, home: Scope, old: str, new: str) -> Iterator[Obstacle]:
    for occurrence in table(source).named(new):
        before = lookup(occurrence.scope, new)
        after = _after(occurrence.scope, home, old, new)
        if _falls_through(source, occurrence, before):
            before, after = meant(source, occurrence), table(source).module if home.kind is ScopeKind.MODULE else None
        if before is not home and after is home:
            what = f"the builtin {new}" if before is None and new in BUILTINS else f"another {new}"
            yield Obstacle(source.text.line_of(occurrence.start), f"this {new} means {what} and would be captured")


def _freed(source: Source, home: Scope, around: Scope, old: str) -> Iterator[Obstacle]:
    """A read above the binding in a class body finds the module's name; without the binding it would find the one of
    the function around."""
    for each in table(source).named(old):
        if each.scope is home and meant(source, each) is not home and lookup(around, old) is not meant(source, each):
            yield Obstacle(source.text.line_of(each.start), f"this {old} would mean the one of the function around")


def mixed(source: Source, name: str) -> Iterator[Obstacle]:
    """Class bodies in which one text reads the module's variable or the class's own, as it happens."""
    for scope in {id(each.scope): each.scope for each in table(source).named(name)}.values():
        if scope.kind is ScopeKind.CLASS and name in scope.bound:
            reads = [each for each in scope.occurrences if each.name == name and each.role is Role.LOAD]
            first = min(scope.bound[name], key=lambda each: each.start)
            line = source.text.line_of(first.start)
            if isinstance(source.parents.get(first.node), ast.AugAssign):
                yield Obstacle(line, f"this reads the module's {name} and binds the class's")
            elif reads and not binds_for_good(source, scope, name):
                yield Obstacle(line, f"{name} is the class's or the module's, as it happens")


def binds_for_good(source: Source, scope: Scope, name: str) -> bool:
    """Whether a class body or module binds a name in one plain statement, before which it is unbound and after which it
    stays bound."""
    bindings = scope.bound[name]
    first = min(bindings, key=lambda each: each.start)
    statement = source.statement_of(first.node)
    is_plain = isinstance(statement, (ast.Assign, ast.AnnAssign, *DEFINITIONS, ast.Import, ast.ImportFrom))
    is_walrus = isinstance(source.parents.get(first.node), ast.NamedExpr)
    undone = any(each.role is Role.DELETE or isinstance(each.node, ast.ExceptHandler) for each in bindings)
    return is_plain and not is_walrus and not undone and statement in getattr(scope.node, "body", [])


def reads_before_bound(source: Source, module: Scope, name: str) -> list[Occurrence]:
    """Module-level reads that may find a builtin, or what a star import brought: the module may bind nothing yet."""
    reads = [
        each
        for each in table(source).named(name)
        if each.role is Role.LOAD and lookup(each.scope, name) is module and _runs_at_once(each.scope)
    ]
    if not binds_for_good(source, module, name):
        return reads
    return [each for each in reads if _is_before_binding(source, each.node, name, module)]


def _runs_at_once(scope: Scope) -> bool:
    """Whether code in the scope runs where it stands: at module level, in class bodies, comprehensions and (for all
    that is known) lambdas."""
    return not any(above.kind is ScopeKind.FUNCTION for above in chain(scope))


def _class_around(scope: Scope) -> Scope | None:
    return next((above for above in chain(scope) if above.kind is ScopeKind.CLASS), None)


def is_mangled(name: str) -> bool:
    """Whether Python puts the class's name before such a name inside a class."""
    return name.startswith("__") and not name.endswith("__")


def _after(scope: Scope, home: Scope, old: str, new: str) -> Scope | None:
    """Where `new`, read in `scope`, is bound once the variable has its new name."""
    at: Scope | None = scope
    first = True
    while at is not None:
        becomes_global = home.kind is ScopeKind.MODULE and old in at.global_names
        if new in at.global_names or becomes_global:
            module = list(chain(at))[-1]
            return module if new in module.bound or module is home else None
        becomes_nonlocal = old in at.nonlocal_names and lookup(at, old) is home
        is_visible = at.kind is not ScopeKind.CLASS or first
        is_bound = at is home or (new in at.bound and new not in at.nonlocal_names and not becomes_nonlocal)
        if is_visible and is_bound:
            return at
        if becomes_nonlocal and new in at.bound and new not in at.nonlocal_names:
            return at  # a local of that name and a declaration that takes it over: never right
        first = first and at.kind is ScopeKind.TYPE_PARAMETERS
        at = at.parent
    return None
