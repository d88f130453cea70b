"""What a global name means in one tree: the definition it leads to through imports, re-exports and packages.

Reads what the kernel asks for and no more. Decides by name alone; what a module does at run time to its own names is
out of sight, except that a name bound more than once, or by functions too, is never followed beyond its module."""

from __future__ import annotations

import ast
import builtins
from collections import Counter
from hashlib import blake2b

from codemods.schema.errors import SourceError
from codemods.source.files import FileSet
from codemods.source.modules import modules_of
from codemods.source.nodes import first_line
from codemods.verify.rebinding import ANY, may_rebind, rebound_in
from codemods.verify.scopes import bindings, definitions_in, statements
from codemods.verify.trees import Facts, trees_of

Definition = tuple[str, str]  # path, qualname
Ref = tuple[str, ...]
_BUILTINS = frozenset(dir(builtins))
_MAX_HOPS = 12
SOMETHING = ast.Pass()  # what binds a name and is no import
MODULE_NAMES = frozenset({"__name__", "__file__", "__qualname__", "__doc__", "__package__", "__spec__", "__class__"})


class Unreadable(Exception):
    """A file of the tree is no Python that this interpreter can parse."""


class Names:
    """The module-level names of one tree. Refs: ("ext", dotted), ("mod", path), ("top", path, name), ("builtin", name),
    ("free", name)."""

    def __init__(self, files: FileSet) -> None:
        self.files, self.modules = files, modules_of(files)
        self._trees = trees_of(files)
        self._facts = self._trees.facts  # of the files whose trees are kept, and of no other
        self._kinds: dict[str, dict[str, type[ast.stmt]]] = {}
        self._digests: dict[str, dict[str, bytes]] = {}
        self._tables: dict[str, dict[str, list[ast.AST]]] = {}
        self._taken: dict[str, list[tuple[str, str]]] = {}
        self.words: dict[Definition, Counter[str]] = {}  # what definitions say, for who guesses what belongs together
        self._rebound: dict[str, frozenset[str]] = {}
        self._resolved: dict[tuple[str, str], Ref] = {}
        self._followed: dict[tuple[str, ...], Ref | None] = {}
        self._paths: frozenset[str] | None = None
        self._words: frozenset[str] = frozenset()

    def focus(self, paths: frozenset[str], words: frozenset[str]) -> None:
        """Follow names no further than needed: into these files, or after these words. Elsewhere a name is what the
        import calls it, which is the same on both sides where nothing changed."""
        self._paths, self._words = paths, words
        self._resolved.clear()

    def _is_near(self, path: str, name: str) -> bool:
        """Whether a name is followed into that file; one that can't be parsed is as far away as a missing one."""
        if self._paths is None:
            return True
        return (path in self._paths or name in self._words) and self._is_readable(path)

    def _is_readable(self, path: str) -> bool:
        try:
            self.tree(path)
        except Unreadable:
            return False
        return True

    def tree(self, path: str) -> ast.Module:
        """Raises Unreadable naming the path."""
        return self._facts_of(path).tree

    def _facts_of(self, path: str) -> Facts:
        found = self._facts.get(path)
        if found is None:
            try:
                found = self._trees.facts_of(path)
            except (SourceError, RecursionError, MemoryError) as error:
                raise Unreadable(f"{path}: {error}") from error
        return found

    def rebound(self, path: str) -> frozenset[str]:
        """The globals that functions of a file bind anew; ANY among them where that can't be told by name."""
        if path not in self._rebound:
            raw = self.files.read(path)
            self._rebound[path] = rebound_in(raw, self.tree(path)) if may_rebind(raw) else frozenset()
        return self._rebound[path]

    def text(self, path: str, node: ast.stmt) -> bytes:
        """The lines of a statement, its decorators included; of a file with odd line ends the statement as Python sees
        it."""
        facts = self._facts_of(path)
        if facts.lines is None:
            raw = self.files.read(path)
            facts.lines = raw.split(b"\n") if b"\r" not in raw and b"\f" not in raw else []
        lines = facts.lines
        first = first_line(node)
        return b"\n".join(lines[first - 1 : node.end_lineno]) if lines else ast.dump(node).encode()

    def has(self, definition: Definition) -> bool:
        """Whether the tree has a definition of this name."""
        path, qualname = definition
        return path in self.files and path.endswith(".py") and qualname in self.kinds(path)

    def kinds(self, path: str) -> dict[str, type[ast.stmt]]:
        """What `definitions` has, by what it is: known without the tree once the file was looked at."""
        found = self._kinds.get(path)
        if found is None:
            found = self._kinds[path] = {name: type(node) for name, node in self.definitions(path).items()}
        return found

    def digests(self, path: str) -> dict[str, bytes]:
        """Of the text of each of the `definitions`: equal where the text is. Known without the tree, as `kinds`."""
        found = self._digests.get(path)
        if found is None:
            texts = {name: self.text(path, node) for name, node in self.definitions(path).items()}
            found = self._digests[path] = {name: blake2b(text, digest_size=16).digest() for name, text in texts.items()}
        return found

    def taken(self, path: str) -> list[tuple[str, str]]:
        """The names that a file imports from modules, anywhere in it, with the module. Known without the tree, too."""
        found = self._taken.get(path)
        if found is None:
            imports = (node for node in statements(self.tree(path).body) if isinstance(node, ast.ImportFrom))
            found = self._taken[path] = [
                (alias.name, self.modules.absolute(path, node.level, node.module))
                for node in imports
                for alias in node.names
            ]
        return found

    def definitions(self, path: str) -> dict[str, ast.stmt]:
        """qualname -> the only definition of that name: functions, classes, methods, module-level assignments."""
        facts = self._facts_of(path)
        if facts.definitions is None:
            found: dict[str, list[ast.stmt]] = {}
            for qualname, node in definitions_in(facts.tree.body, ""):
                found.setdefault(qualname, []).append(node)
            facts.definitions = {name: nodes[0] for name, nodes in found.items() if len(nodes) == 1}
        return facts.definitions

    def table(self, path: str) -> dict[str, list[ast.AST]]:
        """Every name the module binds at its own level -> what binds it: imports, and SOMETHING for all else. Known
        without the tree, as `kinds`: names of many files are asked for in turn."""
        table = self._tables.get(path)
        if table is None:
            table = {}
            for name, node in bindings(self.tree(path).body):
                is_import = isinstance(node, (ast.Import, ast.ImportFrom))
                table.setdefault(name, []).append(node if is_import else SOMETHING)
            for name in self.rebound(path) - {ANY}:
                table.setdefault(name, []).append(SOMETHING)  # somebody else writes it too
            self._tables[path] = table
        return table

    def resolve(self, path: str, name: str) -> Ref:
        """What a global name of a module means."""
        key = (path, name)
        if key not in self._resolved:
            self._resolved[key] = self._resolve(path, name, _MAX_HOPS)
        return self._resolved[key]

    def _resolve(self, path: str, name: str, hops: int) -> Ref:
        if name in MODULE_NAMES:
            return ("own", path, name)
        table = self.table(path)
        found = table.get(name)
        if found is None:
            return self._starred(path, name, hops) or (("builtin", name) if name in _BUILTINS else ("free", name))
        refs = {self._bound(path, name, node, hops) for node in found}
        return refs.pop() if len(refs) == 1 else ("top", path, name)

    def _bound(self, path: str, name: str, node: ast.AST, hops: int) -> Ref:
        if isinstance(node, (ast.Import, ast.ImportFrom)) and hops > 0:
            return self.imported(path, node, name, hops - 1)
        return ("top", path, name)

    def imported(self, path: str, node: ast.Import | ast.ImportFrom, name: str, hops: int = _MAX_HOPS) -> Ref:
        """What the import binds `name` to, in the module `path`."""
        for alias in node.names:
            if isinstance(node, ast.Import):
                if (alias.asname or alias.name.partition(".")[0]) == name:
                    return self._module(path, alias.name if alias.asname else name)
            elif (alias.asname or alias.name) == name:
                module = self.modules.absolute(path, node.level, node.module)
                return self._member(self._module(path, module), alias.name, hops)
        return ("free", name)

    def _module(self, near: str, dotted: str) -> Ref:
        found = self.modules.path_of(dotted, near=near)
        return ("mod", found) if found is not None and found.endswith(".py") else ("ext", dotted)

    def _member(self, module: Ref, name: str, hops: int) -> Ref:
        if module[0] == "ext":  # a package without a file may have modules
            return self._module("", f"{module[1]}.{name}")
        if module[0] != "mod":
            return ("free", name)
        path = module[1]
        if not self._is_near(path, name):
            dotted = f"{self.modules.module_of(path)}.{name}"
            inner = self.modules.path_of(dotted) if path.endswith("__init__.py") else None
            return ("mod", inner) if inner is not None and inner.endswith(".py") else ("ext", dotted)
        if name in self.table(path):
            return self._resolve(path, name, hops)
        dotted = f"{self.modules.module_of(path)}.{name}"
        inner = self.modules.path_of(dotted) if path.endswith("__init__.py") else None
        if inner is not None:
            return ("mod", inner)
        return self._starred(path, name, hops) or ("ext", dotted)

    def _starred(self, path: str, name: str, hops: int) -> Ref | None:
        if hops <= 0 or name.startswith("_"):
            return None
        for node in self.table(path).get("*", ()):
            assert isinstance(node, ast.ImportFrom)
            module = self._module(path, self.modules.absolute(path, node.level, node.module))
            if module[0] == "mod" and self._paths is not None and not self._is_readable(module[1]):
                module = ("ext", self.modules.module_of(module[1]))
            if module[0] == "mod" and name in self.table(module[1]):
                return self._resolve(module[1], name, hops - 1)
            if module[0] == "ext" and name not in _BUILTINS:
                return ("ext", f"{module[1]}.*.{name}")
        return None

    def followed(self, path: str, dotted: list[str]) -> Ref | None:
        """What a dotted name of a module means, followed wherever it leads."""
        key = (path, *dotted)
        if key not in self._followed:
            self._followed[key] = self._follow(path, dotted)
        return self._followed[key]

    def _follow(self, path: str, dotted: list[str]) -> Ref | None:
        kept, self._paths = self._paths, None
        try:
            ref: Ref | None = self._resolve(path, dotted[0], _MAX_HOPS)
            for part in dotted[1:]:
                ref = self.attribute(ref, part) if ref is not None else None
        except Unreadable:
            return None
        finally:
            self._paths = kept
        return ref

    def attribute(self, ref: Ref, name: str) -> Ref | None:
        """What `ref.name` is, when it is a module's member or a definition inside a class; None when it is a value."""
        if ref[0] in ("mod", "ext"):
            return self._member(ref, name, _MAX_HOPS)
        if ref[0] == "top" and self.has((ref[1], f"{ref[2]}.{name}")):
            return ("top", ref[1], f"{ref[2]}.{name}")
        return None

    def method(self, path: str, owner: str, name: str, hops: int = _MAX_HOPS) -> Definition | None:
        """The method `name` of a class, looked for in the class and then in its bases that are in the tree."""
        if not self._is_near(path, name):
            return None
        node = self.definitions(path).get(owner)
        if self.has((path, f"{owner}.{name}")):
            return (path, f"{owner}.{name}")
        if not isinstance(node, ast.ClassDef) or hops <= 0:
            return None
        if self._paths is not None and name not in self._words and hops < _MAX_HOPS:
            return None
        for base in node.bases:
            dotted = ast.unparse(base).split(".") if isinstance(base, (ast.Name, ast.Attribute)) else []
            ref: Ref | None = self.resolve(path, dotted[0]) if dotted else None
            for part in dotted[1:]:
                ref = self.attribute(ref, part) if ref is not None else None
            if ref is not None and ref[0] == "top" and (found := self.method(ref[1], ref[2], name, hops - 1)):
                return found
        return None


def is_rebound(names: Names, path: str, name: str) -> bool:
    """Whether functions of a file may bind one of its globals anew."""
    try:
        return not {name, ANY}.isdisjoint(names.rebound(path))
    except Unreadable:
        return True
