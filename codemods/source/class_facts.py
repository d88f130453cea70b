"""What each file says about its classes, small enough to keep for a whole tree: bases, names in the body, aliases.

One reading of one file; following a base into other files is classes.py's. A file that does not parse has no classes
here: whoever changes it reports that."""

from __future__ import annotations

import ast
import hashlib
from collections import OrderedDict
from collections.abc import Iterator

from msgspec import Struct

from codemods.schema.errors import SourceError
from codemods.source.binder import table
from codemods.source.files import FileSet
from codemods.source.imports import binding_import
from codemods.source.locate import flattened
from codemods.source.modules import modules_of
from codemods.source.parse import DEFINITIONS, FUNCTIONS, Source, load
from codemods.source.scopes import BUILTINS, Role, Scope, ScopeKind, chain, lookup

_KEEP = 4096  # files; facts are a few hundred bytes each
_DEEPEST = 8  # aliases of aliases


class Target(Struct, frozen=True):
    """An object as one file names it: `path` (dotted, "" for the module itself) looked up in `module`.

    module "" means that this file does not tell where the object comes from; `path` is then the expression's text."""

    module: str
    path: str


class ClassFact(Struct, frozen=True):
    """One class statement. Each base has alternatives, because its name may be bound in several ways (try/except).

    names: what the class body binds. metaclass: its text, "" without one."""

    qualname: str
    line: int
    bases: tuple[tuple[Target, ...], ...]
    names: frozenset[str]
    metaclass: str


class FileFacts(Struct, frozen=True):
    """`classes` by qualname (several statements may share one); `aliases`: module-level `B = A` and `import A as B`."""

    classes: dict[str, tuple[ClassFact, ...]]
    aliases: dict[str, tuple[Target, ...]]


_NOTHING = FileFacts({}, {})
_cache: OrderedDict[tuple[str, str, bytes], FileFacts] = OrderedDict()


def facts_of(files: FileSet, path: str) -> FileFacts:
    """The facts of one file, kept by its content."""
    key = (path, modules_of(files).module_of(path), hashlib.blake2b(files.read(path), digest_size=16).digest())
    found = _cache.get(key)
    if found is None:
        try:
            found = _read(files, load(files, path))
        except SourceError:
            found = _NOTHING
        _cache[key] = found
        while len(_cache) > _KEEP:
            _cache.popitem(last=False)
    return found


def qualname_of(scope: Scope) -> str:
    """The dotted name of a scope as Python writes it: `f.<locals>.C`; "" for the module."""
    parts: list[str] = []
    inner: Scope | None = None
    for at in chain(scope):
        if at.kind in (ScopeKind.CLASS, ScopeKind.FUNCTION):
            name = str(getattr(at.node, "name", ""))
            parts.append(f"{name}.<locals>" if at.kind is ScopeKind.FUNCTION and inner is not None else name)
            inner = at
    return ".".join(reversed(parts))


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
    return tuple(dict.fromkeys(_targets(files, source, node, scope, _DEEPEST)))


def _read(files: FileSet, source: Source) -> FileFacts:
    classes: dict[str, tuple[ClassFact, ...]] = {}
    for node, scope in class_nodes(source):
        qualname = member_name(scope, node.name)
        bases = tuple(targets(files, source, base, scope) for base in node.bases if not isinstance(base, ast.Starred))
        metaclass = next((ast.unparse(each.value) for each in node.keywords if each.arg == "metaclass"), "")
        names = frozenset(table(source).scope_of(node).bound)
        fact = ClassFact(qualname, node.lineno, bases, names, metaclass)
        classes[qualname] = (*classes.get(qualname, ()), fact)
    return FileFacts(classes, _aliases(files, source))


def _aliases(files: FileSet, source: Source) -> dict[str, tuple[Target, ...]]:
    module = table(source).module
    found: dict[str, tuple[Target, ...]] = {}
    for statement in flattened(source.tree.body):
        names: list[str] = []
        if isinstance(statement, ast.Assign) and isinstance(statement.value, (ast.Name, ast.Attribute, ast.Subscript)):
            names = [target.id for target in statement.targets if isinstance(target, ast.Name)]
        elif isinstance(statement, ast.ImportFrom):
            names = [alias.asname for alias in statement.names if alias.asname and alias.asname != alias.name]
        for name in names:
            if name not in found:
                found[name] = targets(files, source, ast.Name(name, ast.Load()), module)
    return found


def _targets(files: FileSet, source: Source, node: ast.expr, scope: Scope, depth: int) -> Iterator[Target]:
    parts: list[str] = []
    at = node
    while isinstance(at, (ast.Attribute, ast.Subscript)):
        if isinstance(at, ast.Attribute):
            parts.append(at.attr)
        at = at.value
    unknown = Target("", ast.unparse(node))
    if isinstance(at, ast.Constant) and isinstance(at.value, str) and not parts:
        yield from _quoted(files, source, at, scope, depth)
    elif not isinstance(at, ast.Name) or depth == 0:
        yield unknown
    else:
        home = lookup(scope, at.id)
        if home is None:
            yield Target("builtins", ".".join([at.id, *reversed(parts)])) if at.id in BUILTINS else unknown
            return
        for target in _bound(files, source, at.id, home, depth):
            yield _deeper(target, parts) if target.module else unknown


def _quoted(files: FileSet, source: Source, node: ast.Constant, scope: Scope, depth: int) -> Iterator[Target]:
    text = str(node.value)
    try:
        inner = ast.parse(text.strip(), mode="eval").body
    except (SyntaxError, ValueError):
        yield Target("", text)
        return
    is_quoted_again = isinstance(inner, ast.Constant)
    yield from [Target("", text)] if is_quoted_again else _targets(files, source, inner, scope, depth)


def _deeper(target: Target, parts: list[str]) -> Target:
    return Target(target.module, ".".join([*([target.path] if target.path else []), *reversed(parts)]))


def _bound(files: FileSet, source: Source, name: str, home: Scope, depth: int) -> Iterator[Target]:
    modules = modules_of(files)
    here = modules.module_of(source.path)
    for each in binding_import(files, source, name, home):
        module = each.module if each.attribute or each.alias.asname else each.module.partition(".")[0]
        holder = modules.path_of(module, near=source.path)
        yield Target(modules.module_of(holder) if holder else module, each.attribute)
    for occurrence in home.bound[name]:
        if occurrence.role is Role.IMPORT:
            continue
        if occurrence.role is Role.DEFINE:
            yield Target(here, member_name(home, name))
            continue
        value = _assigned_value(source, occurrence.node)
        if isinstance(value, (ast.Name, ast.Attribute, ast.Subscript)) and not _is_self_reference(value, name):
            yield from _targets(files, source, value, occurrence.scope, depth - 1)
        elif not isinstance(value, ast.Constant) or value.value is not None:
            # `X = None` beside a real binding is the usual fallback of an optional import
            yield Target(here, member_name(home, name)) if home.kind is ScopeKind.MODULE else Target("", name)


def _assigned_value(source: Source, node: ast.AST) -> ast.expr | None:
    above = source.parents.get(node)
    if isinstance(above, ast.Assign):
        return above.value
    if isinstance(above, ast.AnnAssign) and above.target is node:
        return above.value
    return None


def _is_self_reference(value: ast.expr, name: str) -> bool:
    return any(isinstance(inner, ast.Name) and inner.id == name for inner in ast.walk(value))


def is_method_scope(scope: Scope) -> bool:
    """Whether a scope is a function that stands directly in a class body."""
    return isinstance(scope.node, FUNCTIONS) and scope.parent is not None and scope.parent.kind is ScopeKind.CLASS
