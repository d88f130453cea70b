"""What each file says about its classes, small enough to keep for a whole tree: bases, names in the body, aliases.

One reading of one file's statements, without a scope table; following a base into other files is classes.py's. A file
that does not parse has no classes here: whoever changes it reports that."""

from __future__ import annotations

import ast
import re
from bisect import bisect_left
from collections import OrderedDict
from typing import cast

from msgspec import Struct, field

from codemods.schema.errors import SourceError
from codemods.source.class_names import Binding, Target, assigned, imported, named
from codemods.source.files import FileSet
from codemods.source.locate import flattened
from codemods.source.modules import Modules, modules_of
from codemods.source.nodes import walk
from codemods.source.parse import DEFINITIONS, FUNCTIONS, light_tree
from codemods.source.text import Text

_KEEP = 4096  # files; facts are a few hundred bytes each
_CLASS = re.compile(rb"class[\s\\]")


class ClassFact(Struct, frozen=True):
    """One class statement. Each base has alternatives, because its name may be bound in several ways (try/except).

    names: what the class body binds. metaclass: its text, "" without one."""

    qualname: str
    line: int
    bases: tuple[tuple[Target, ...], ...]
    names: frozenset[str]
    metaclass: str


class FileFacts(Struct, frozen=True):
    """`classes` by qualname (several statements may share one). bound: module-level names and what they stand for, a
    Target of this very module and name when they are at home here. stars: modules of star imports."""

    classes: dict[str, tuple[ClassFact, ...]]
    bound: dict[str, tuple[Target, ...]]
    stars: tuple[str, ...]


_NOTHING = FileFacts({}, {}, ())
_cache: OrderedDict[tuple[str, str, bytes], FileFacts] = OrderedDict()


def facts_of(files: FileSet, path: str) -> FileFacts:
    """The facts of one file, kept by its content, and with this very set of files."""
    known = cast("dict[str, FileFacts]", files.notes.setdefault("class_facts", {}))
    if path not in known:
        known[path] = _kept(files, path)
    return known[path]


def _kept(files: FileSet, path: str) -> FileFacts:
    modules = modules_of(files)
    raw = files.read(path)
    key = (path, modules.module_of(path), raw)
    found = _cache.get(key)
    if found is None:
        try:
            found = _read(modules, path, *light_tree(files, path))
        except SourceError:
            found = _NOTHING
        _cache[key] = found
        while len(_cache) > _KEEP:
            _cache.popitem(last=False)
    return found


# -- one file, statements only


class _Space(Struct, eq=False):
    """Bindings of one scope as its statements make them."""

    name: str
    is_class: bool
    parent: _Space | None
    bound: dict[str, list[Binding]] = field(default_factory=dict)

    def find(self, name: str) -> list[Binding] | None:
        at: _Space | None = self
        while at is not None:
            if name in at.bound and (at is self or not at.is_class):
                return at.bound[name]
            at = at.parent
        return None

    def inner(self, node: ast.stmt, name: str) -> _Space:
        outer = f"{self.name}.{name}" if self.name else name
        is_class = isinstance(node, ast.ClassDef)
        space = _Space(outer if is_class else f"{outer}.<locals>", is_class, self)
        if isinstance(node, FUNCTIONS):
            arguments = [*node.args.posonlyargs, *node.args.args, *node.args.kwonlyargs]
            space.bound.update({each.arg: [Target("", each.arg)] for each in arguments})
        return space


class _Reader:
    def __init__(self, modules: Modules, path: str, text: Text) -> None:
        self.modules, self.path = modules, path
        self.lines = [text.line_of(match.start()) for match in _CLASS.finditer(text.body)]  # that may make a class
        self.module = modules.module_of(path)
        self.classes: dict[str, tuple[ClassFact, ...]] = {}
        self.stars: list[str] = []
        self.pending: list[tuple[ast.ClassDef, _Space, _Space]] = []

    def read(self, body: list[ast.stmt], space: _Space) -> None:
        for node in flattened(body):
            self.bind(node, space)
            if isinstance(node, DEFINITIONS) and (isinstance(node, ast.ClassDef) or self.has_class(node)):
                inner = space.inner(node, node.name)
                self.read(node.body, inner)
                if isinstance(node, ast.ClassDef):
                    self.pending.append((node, space, inner))

    def has_class(self, node: ast.stmt) -> bool:
        """Whether a class may stand in a function; else nobody asks what the function binds."""
        at = bisect_left(self.lines, node.lineno)
        return at < len(self.lines) and self.lines[at] <= (node.end_lineno or node.lineno)

    def bind(self, node: ast.stmt, space: _Space) -> None:
        if isinstance(node, DEFINITIONS):
            own = Target(self.module, f"{space.name}.{node.name}" if space.name else node.name)
            space.bound.setdefault(node.name, []).append(own)
        elif isinstance(node, (ast.Import, ast.ImportFrom)):
            self.bind_import(node, space)
        elif isinstance(node, (ast.Assign, ast.AnnAssign)):
            names = node.targets if isinstance(node, ast.Assign) else [node.target]
            for target in [inner for name in names for inner in walk(name)]:
                if isinstance(target, ast.Name) and isinstance(target.ctx, ast.Store):
                    own = Target(self.module, f"{space.name}.{target.id}" if space.name else target.id)
                    value = node.value if target in names else ast.Tuple([], ast.Load())
                    space.bound.setdefault(target.id, []).extend(assigned(value, target.id, own, space.find))

    def bind_import(self, node: ast.Import | ast.ImportFrom, space: _Space) -> None:
        for alias in node.names:
            is_from = isinstance(node, ast.ImportFrom)
            module = self.modules.absolute(self.path, node.level, node.module) if is_from else alias.name  # type: ignore[union-attr]
            name = alias.asname or (alias.name if is_from else alias.name.partition(".")[0])
            if alias.name == "*":
                self.stars.extend([module] if space.parent is None else [])
                continue
            target = imported(self.modules, self.path, module, alias.name if is_from else "", bool(alias.asname))
            space.bound.setdefault(name, []).append(target)

    def finished(self) -> dict[str, tuple[ClassFact, ...]]:
        for node, space, inner in self.pending:
            bases = [tuple(dict.fromkeys(named(base, space.find))) for base in node.bases]
            metaclass = next((ast.unparse(each.value) for each in node.keywords if each.arg == "metaclass"), "")
            fact = ClassFact(inner.name, node.lineno, tuple(bases), _names(node), metaclass)
            self.classes[inner.name] = (*self.classes.get(inner.name, ()), fact)
        return self.classes


def _names(node: ast.ClassDef) -> frozenset[str]:
    found: set[str] = set()
    for statement in flattened(node.body):
        if isinstance(statement, DEFINITIONS):
            found.add(statement.name)
        elif isinstance(statement, (ast.Import, ast.ImportFrom)):
            found.update(alias.asname or alias.name.partition(".")[0] for alias in statement.names)
        elif isinstance(statement, (ast.Assign, ast.AnnAssign, ast.For, ast.With)):
            targets = [inner for inner in walk(statement) if isinstance(inner, ast.Name)]
            found.update(target.id for target in targets if isinstance(target.ctx, ast.Store))
    return frozenset(found)


def _read(modules: Modules, path: str, text: Text, tree: ast.Module) -> FileFacts:
    reader = _Reader(modules, path, text)
    top = _Space("", is_class=False, parent=None)
    reader.read(tree.body, top)
    module = modules.module_of(path)
    bound = {
        name: tuple(dict.fromkeys(named(ast.Name(name, ast.Load()), top.find))) or (Target(module, name),)
        for name in top.bound
    }
    stars = [modules.path_of(star, near=path) for star in reader.stars]
    return FileFacts(
        reader.finished(), bound, tuple(modules.module_of(star) for star in stars if star and star != path)
    )
