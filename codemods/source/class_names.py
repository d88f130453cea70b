"""What object an expression names, as far as one file tells: through its imports, definitions and plain assignments.

Where the named object really lives is another file's to say (classes.py follows it there)."""

from __future__ import annotations

import ast
from collections.abc import Callable, Iterator

from msgspec import Struct

from codemods.source.binder import table
from codemods.source.files import FileSet
from codemods.source.imports import binding_import
from codemods.source.locate import flattened
from codemods.source.modules import Modules, modules_of
from codemods.source.parse import DEFINITIONS, Source
from codemods.source.scopes import BUILTINS, Role, Scope, ScopeKind, chain, lookup

DEEPEST = 8  # aliases of aliases


class Target(Struct, frozen=True):
    """An object as one file names it: `path` (dotted, "" for the module itself) looked up in `module`.

    module "" means that this file does not tell where the object comes from; `path` is then the expression's text."""

    module: str
    path: str


class Alias(Struct, frozen=True, eq=False):
    """A name bound by `name = value`; `find` knows the names that `value` uses."""

    value: ast.expr
    find: Find


Binding = Target | Alias
Find = Callable[[str], "list[Binding] | None"]  # None: nobody binds the name


def qualname_of(scope: Scope) -> str:
    """The dotted name of a scope as Python writes it: `f.<locals>.C`; "" for the module."""
    above = [at for at in chain(scope) if at.kind in (ScopeKind.CLASS, ScopeKind.FUNCTION)]
    name = ""
    for at in reversed(above):
        name = f"{name}.{at.node.name}" if name else str(at.node.name)  # type: ignore[attr-defined]
        if at.kind is ScopeKind.FUNCTION and at is not above[0]:
            name += ".<locals>"
    return name


def member_name(scope: Scope, name: str) -> str:
    """The qualname of what `name` binds in a scope."""
    outer = qualname_of(scope)
    if scope.kind is ScopeKind.FUNCTION:
        outer += ".<locals>"
    return f"{outer}.{name}" if outer else name


def class_nodes(source: Source) -> Iterator[tuple[ast.ClassDef, Scope]]:
    """Every class statement of a file with the scope it stands in, nested ones and those in functions too."""
    scopes = table(source)
    stack: list[tuple[list[ast.stmt], Scope]] = [(source.tree.body, scopes.module)]
    while stack:
        body, scope = stack.pop()
        for node in flattened(body):
            if isinstance(node, DEFINITIONS):
                if isinstance(node, ast.ClassDef):
                    yield node, scope
                stack.append((node.body, scopes.scope_of(node)))


def targets(files: FileSet, source: Source, node: ast.expr, scope: Scope) -> tuple[Target, ...]:
    """What a class expression may name, as far as this file tells. `C[int]` is `C`; a quoted name is read as code."""
    return tuple(dict.fromkeys(named(node, lambda name: _in_scope(files, source, scope, name))))


def named(node: ast.expr, find: Find, depth: int = DEEPEST) -> Iterator[Target]:
    """The objects an expression may name, with names looked up by `find`."""
    parts: list[str] = []
    at = node
    while isinstance(at, (ast.Attribute, ast.Subscript)):
        if isinstance(at, ast.Attribute):
            parts.insert(0, at.attr)
        at = at.value
    unknown = Target("", ast.unparse(node))
    if isinstance(at, ast.Constant) and isinstance(at.value, str) and not parts and depth:
        yield from named(_quoted(at.value), find, depth - 1)
    elif not isinstance(at, ast.Name) or depth == 0:
        yield unknown
    else:
        bindings = find(at.id)
        if bindings is None:
            yield Target("builtins", ".".join([at.id, *parts])) if at.id in BUILTINS else unknown
            return
        for binding in bindings:
            found = [binding] if isinstance(binding, Target) else named(binding.value, binding.find, depth - 1)
            for each in found:
                yield Target(each.module, ".".join([each.path, *parts]).strip(".")) if each.module else unknown


def _quoted(text: str) -> ast.expr:
    try:
        return ast.parse(text.strip(), mode="eval").body
    except (SyntaxError, ValueError):
        return ast.Constant(None)


def _in_scope(files: FileSet, source: Source, scope: Scope, name: str) -> list[Binding] | None:
    home = lookup(scope, name)
    if home is None:
        return None
    modules = modules_of(files)
    found: list[Binding] = [
        imported(modules, source.path, each.module, each.attribute, bool(each.alias.asname))
        for each in binding_import(files, source, name, home)
    ]
    own = Target(modules.module_of(source.path), member_name(home, name))
    for occurrence in home.bound[name]:
        if occurrence.role is Role.DEFINE:
            found.append(own)
        elif occurrence.role is not Role.IMPORT:
            above = source.parents.get(occurrence.node)
            value = above.value if isinstance(above, (ast.Assign, ast.AnnAssign)) else None
            found.extend(assigned(value, name, own, lambda other: _in_scope(files, source, home, other)))
    return found


def imported(modules: Modules, path: str, module: str, attribute: str, is_renamed: bool) -> Target:
    """What one imported name stands for; `import a.b` binds `a`."""
    named = module if attribute or is_renamed else module.partition(".")[0]
    holder = modules.path_of(named, near=path)
    return Target(modules.module_of(holder) if holder else named, attribute)


def assigned(value: ast.expr | None, name: str, own: Target, find: Find) -> Iterator[Binding]:
    """What `name = value` makes the name stand for: another class, or something this file does not name."""
    if isinstance(value, (ast.Name, ast.Attribute, ast.Subscript)):
        if not any(isinstance(inner, ast.Name) and inner.id == name for inner in ast.walk(value)):
            yield Alias(value, find)
    elif not isinstance(value, ast.Constant) or value.value is not None:
        # `X = None` beside a real binding is the usual fallback of an optional import
        yield own if "." not in own.path else Target("", name)
