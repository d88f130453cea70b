"""One of the two trees as definitions: what a module binds at its top level and what a name finally means, through
imports and re-exports. Reads text; runs nothing. Which definitions are the same on both sides is stable.py's."""

from __future__ import annotations

import ast
import builtins
import copy
from collections.abc import Iterator
from functools import cached_property

from msgspec import Struct

from codemods.schema.errors import SourceError
from codemods.source.files import FileSet
from codemods.source.modules import Modules, modules_of

FunctionNode = ast.FunctionDef | ast.AsyncFunctionDef
DefNode = FunctionNode | ast.ClassDef
_DEEPEST = 16
_INNER = (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef, ast.Lambda)


class Target(Struct, frozen=True, eq=False):
    """What a name means. kind: function, class, value, module, outside (a dotted name not in the tree), builtin,
    missing."""

    kind: str
    module: str
    name: str
    node: DefNode | None = None

    @property
    def key(self) -> str:
        return f"{self.module}:{self.name}" if self.name else self.module


class ModuleFacts:
    """The top level of one module."""

    def __init__(self, module: str, path: str, raw: bytes) -> None:
        self.module, self.path, self.raw = module, path, raw
        self.tree = ast.parse(raw)
        self.bindings: dict[str, list[int]] = {}
        self.stars: list[ast.ImportFrom] = []
        self.imports: dict[str, tuple[ast.Import | ast.ImportFrom, ast.alias]] = {}
        self.definitions: dict[str, DefNode] = {}
        for index, statement in enumerate(self.tree.body):
            self._bind(index, statement, is_nested=False)
        self._find_changes()

    def _bind(self, index: int, node: ast.stmt, *, is_nested: bool) -> None:
        if _is_itself(node):
            return
        if isinstance(node, ast.Import | ast.ImportFrom):
            self._bind_import(index, node)
        elif isinstance(node, DefNode):
            self._note(node.name, index)
            self.definitions[node.name] = node
            self.imports.pop(node.name, None)
        elif isinstance(node, ast.Assign | ast.AnnAssign | ast.AugAssign | ast.For | ast.With | ast.Delete | ast.Expr):
            for each in ast.walk(node):
                if isinstance(each, ast.Name) and isinstance(each.ctx, ast.Store | ast.Del):
                    self._note(each.id, index)
                    if not is_nested:
                        self.definitions.pop(each.id, None)
                        self.imports.pop(each.id, None)
        for inner in _blocks(node):
            self._bind(index, inner, is_nested=True)

    def _note(self, name: str, index: int) -> None:
        found = self.bindings.setdefault(name, [])
        if index not in found:
            found.append(index)

    def _bind_import(self, index: int, node: ast.Import | ast.ImportFrom) -> None:
        for alias in node.names:
            if alias.name == "*":
                assert isinstance(node, ast.ImportFrom)
                self.stars.append(node)
                continue
            name = alias.asname or (alias.name.partition(".")[0] if isinstance(node, ast.Import) else alias.name)
            self._note(name, index)
            self.imports[name] = (node, alias)
            self.definitions.pop(name, None)

    def _find_changes(self) -> None:
        """Statements that change what a name holds: `table[k] = v`, `names.append(x)`."""
        for index, node in enumerate(self.tree.body):
            root: ast.expr | None = None
            if isinstance(node, ast.Assign) and isinstance(node.targets[0], ast.Subscript | ast.Attribute):
                root = node.targets[0].value
            elif isinstance(node, ast.Expr) and isinstance(node.value, ast.Call):
                root = node.value.func.value if isinstance(node.value.func, ast.Attribute) else None
            while isinstance(root, ast.Attribute | ast.Subscript):
                root = root.value
            if isinstance(root, ast.Name) and root.id in self.bindings and root.id not in self.imports:
                self._note(root.id, index)

    @cached_property
    def rebound(self) -> frozenset[str]:
        """Names of the module that functions bind anew: `global name`."""
        nodes = ast.walk(self.tree)
        return frozenset(name for each in nodes if isinstance(each, ast.Global) for name in each.names)

    @cached_property
    def all_names(self) -> frozenset[str]:
        return frozenset(self.bindings)


def _is_itself(node: ast.stmt) -> bool:
    """`name = name`, as renames leave behind: what the name means stays what it was."""
    if not isinstance(node, ast.Assign) or not isinstance(node.value, ast.Name):
        return False
    return all(isinstance(each, ast.Name) and each.id == node.value.id for each in node.targets)


def _blocks(node: ast.stmt) -> Iterator[ast.stmt]:
    """The statements of the blocks of a compound statement that share its scope."""
    if isinstance(node, _INNER):
        return
    for field in ("body", "orelse", "finalbody"):
        yield from getattr(node, field, ())
    for handler in getattr(node, "handlers", ()):
        yield from handler.body
    for case in getattr(node, "cases", ()):
        yield from case.body


class Side:
    """`label`: old or new."""

    def __init__(self, label: str, files: FileSet) -> None:
        self.label, self.files = label, files
        self.modules: Modules = modules_of(files)
        self._facts: dict[str, ModuleFacts | None] = {}
        self._members: dict[tuple[str, str], Target] = {}
        self._modules: dict[str, bool] = {}
        self._twin: Side | None = None
        self._changed: frozenset[str] = frozenset()

    def share(self, twin: Side, changed: frozenset[str]) -> None:
        """Take the modules of files that are the same on both sides from the other one: each is read once, and what is
        one thing by its text is one node."""
        if twin is not self:
            self._twin, self._changed = twin, changed
            self._members = {}

    def facts(self, module: str) -> ModuleFacts | None:
        """None where the tree has no such module. Raises SourceError where it can't be parsed."""
        if module not in self._facts:
            path = self.modules.path_of(module) if module else None
            if path is None or not path.endswith(".py"):
                self._facts[module] = None
            elif self._twin is not None and path not in self._changed and self._twin.modules.path_of(module) == path:
                self._facts[module] = self._twin.facts(module)
            else:
                try:
                    self._facts[module] = ModuleFacts(module, path, self.files.read(path))
                except (SyntaxError, ValueError) as error:
                    words, line = (error.msg, error.lineno or 0) if isinstance(error, SyntaxError) else (str(error), 0)
                    raise SourceError(
                        f"can't be parsed in the {self.label} tree: {words}",
                        path=path,
                        line=line,
                        fix="mend the syntax",
                    ) from error
        return self._facts[module]

    def with_facts(self, facts: ModuleFacts) -> Side:
        """The side with another text of one module."""
        made = copy.copy(self)
        made._facts = {**self._facts, facts.module: facts}
        made._members = {}
        return made

    def has_module(self, module: str) -> bool:
        found = self._modules.get(module)
        if found is None:
            found = self.modules.path_of(module) is not None or self.modules.is_package_directory(module)
            self._modules[module] = found
        return found

    def resolve(self, module: str, name: str, depth: int = 0) -> Target:
        """What a name at the top level of a module of the tree means."""
        facts = self.facts(module)
        if facts is None or depth > _DEEPEST:
            inner = f"{module}.{name}" if module else name
            return Target("module", inner, "") if self.has_module(inner) else Target("missing", module, name)
        if name in facts.definitions:
            node = facts.definitions[name]
            return Target("class" if isinstance(node, ast.ClassDef) else "function", module, name, node)
        if name in facts.imports:
            return self._imported(facts, *facts.imports[name], depth)
        if name in facts.bindings:
            return Target("value", module, name)
        for star in facts.stars:
            source = self.modules.absolute(facts.path, star.level, star.module)
            if not self.has_module(source):
                return Target("outside", f"{source}.{name}", "")
            found = self.resolve(source, name, depth + 1)
            if found.kind not in ("missing", "builtin"):
                return found
        inner = f"{module}.{name}"
        if self.has_module(inner):
            return Target("module", inner, "")
        return Target("builtin" if hasattr(builtins, name) else "missing", module, name)

    def _imported(self, facts: ModuleFacts, node: ast.Import | ast.ImportFrom, alias: ast.alias, depth: int) -> Target:
        if isinstance(node, ast.Import):
            dotted = alias.name if alias.asname else alias.name.partition(".")[0]
            return Target("module" if self.has_module(dotted) else "outside", dotted, "")
        return self.member(self.modules.absolute(facts.path, node.level, node.module), alias.name, depth + 1)

    def member(self, module: str, name: str, depth: int = 0) -> Target:
        """What `from module import name` gives."""
        if depth:
            return self._member(module, name, depth)
        found = self._members.get((module, name))
        if found is None:
            found = self._members[module, name] = self._member(module, name, 0)
        return found

    def _member(self, module: str, name: str, depth: int) -> Target:
        if not self.has_module(module):
            top = module.partition(".")[0]
            kind = "missing" if self.facts(top) is not None and top != module else "outside"
            return Target(kind, module if kind == "missing" else f"{module}.{name}", name if kind == "missing" else "")
        found = self.resolve(module, name, depth)
        return Target("missing", module, name) if found.kind == "builtin" else found

    def definition(self, module: str, qualname: str) -> tuple[DefNode | None, ast.ClassDef | None]:
        """A function, class or method by its qualified name, with the class around it."""
        facts = self.facts(module)
        owner: ast.ClassDef | None = None
        node: ast.AST | None = None if facts is None else facts.tree
        parts = qualname.split(".")
        for index, part in enumerate(parts):
            found = None
            for each in reachable(node):
                if isinstance(each, DefNode) and each.name == part:
                    found = each
            if found is None:
                return None, None
            if index < len(parts) - 1:
                owner = found if isinstance(found, ast.ClassDef) else None
            node = found
        return (node if isinstance(node, DefNode) else None), owner


def reachable(node: ast.AST | None) -> Iterator[ast.stmt]:
    """The statements of a scope, those of its blocks too."""
    pending = list(getattr(node, "body", ()))
    while pending:
        each = pending.pop(0)
        yield each
        pending.extend(_blocks(each))
