"""Names of one module as domains need them: its definitions, what its imports mean, and what a constant expression is
worth.

What another module defines is asked of a callback (`lookup`, by the name as it is written here); `lookup_in` makes
one for a tree. Nothing is imported or run: what can't be told from the text is missing."""

from __future__ import annotations

import ast
import operator
from collections.abc import Callable
from functools import cached_property
from typing import Any

from codemods.prove.domains import Definition, Lookup
from codemods.schema.errors import SourceError
from codemods.source.files import FileSet
from codemods.source.imports import origin
from codemods.source.modules import modules_of
from codemods.source.nodes import statements
from codemods.source.parse import FUNCTIONS, load

MISSING: Any = type("Missing", (), {"__repr__": lambda _: "MISSING"})()
SCALARS = (str, int, float, bool, bytes, type(None))
_DEEPEST = 8
_LARGEST = 1 << 256
_OPERATORS: dict[type, Callable[[Any, Any], Any]] = {
    ast.Add: operator.add,
    ast.Sub: operator.sub,
    ast.Mult: operator.mul,
    ast.Div: operator.truediv,
    ast.FloorDiv: operator.floordiv,
    ast.Mod: operator.mod,
    ast.BitOr: operator.or_,
    ast.BitAnd: operator.and_,
}


def nothing(name: str) -> None:
    """A lookup that knows no other module."""


class Home:
    """One module. name: its dotted name, for references to its classes."""

    def __init__(
        self, module: ast.Module, lookup: Lookup = nothing, name: str = "", others: dict[int, Home] | None = None
    ) -> None:
        self.module, self.lookup, self.name = module, lookup, name
        self.assigned: dict[ast.ClassDef, dict[str, ast.expr]] = {}  # attributes that methods assign, kept by class
        self._found: dict[str, Definition | None] = {}
        self._others: dict[int, Home] = {} if others is None else others  # by the module's identity, for all of them
        self._others.setdefault(id(module), self)

    @cached_property
    def definitions(self) -> dict[str, ast.stmt]:
        return definitions_of(self.module)

    @cached_property
    def imports(self) -> dict[str, str]:
        return imported_names(self.module)

    def dotted(self, node: ast.AST) -> str:
        """`a.b.c` as it is written; "" for anything else."""
        parts: list[str] = []
        while isinstance(node, ast.Attribute):
            parts.append(node.attr)
            node = node.value
        return ".".join(reversed([*parts, node.id])) if isinstance(node, ast.Name) else ""

    def meant(self, node: ast.AST) -> str:
        """The dotted name with the head replaced by what an import binds it to: `np.array` is `numpy.array`."""
        head, dot, rest = self.dotted(node).partition(".")
        return self.imports.get(head, head) + dot + rest

    def leaf(self, node: ast.AST, deep: int = 0) -> str:
        """The last name of what is meant, through `A = Annotated` of the tree too."""
        name = self.dotted(node)
        found = self.find(name) if name and deep < _DEEPEST else None
        value = getattr(found.node, "value", None) if found is not None else None
        if found is not None and isinstance(value, (ast.Name, ast.Attribute)):
            return self.of(found).leaf(value, deep + 1)
        return self.meant(node).rpartition(".")[2]

    def find(self, name: str) -> Definition | None:
        """The definition a dotted name as written here stands for, in this module or behind the lookup."""
        if name not in self._found:
            self._found[name] = self._find(name)
        return self._found[name]

    def _find(self, name: str) -> Definition | None:
        head, _, rest = name.partition(".")
        node: ast.AST | None = self.definitions.get(head)
        if node is not None:
            for part in rest.split(".") if rest else ():
                node = member(node, part) if isinstance(node, ast.ClassDef) else None
            return Definition(node, self.module, self.lookup, self._ref(name), name) if node is not None else None
        found = self.lookup(name) if name else None
        if found is None or isinstance(found, Definition):
            return found
        return Definition(found, None, None, self._ref(name), name)

    def _ref(self, name: str) -> str:
        return f"{self.name}:{name}" if self.name else name

    def of(self, definition: Definition) -> Home:
        """Where the names inside a definition are looked up."""
        module = definition.module
        if module is None or module is self.module:
            return self
        if id(module) not in self._others:
            Home(module, definition.lookup or nothing, definition.ref.partition(":")[0], self._others)
        return self._others[id(module)]

    def constant(self, node: ast.AST | None, deep: int = 0) -> Any:
        """What an expression of literals and constant names is worth, else MISSING."""
        if isinstance(node, ast.Constant):
            return node.value if isinstance(node.value, SCALARS) else MISSING
        if deep > _DEEPEST or node is None:
            return MISSING
        if isinstance(node, (ast.List, ast.Tuple, ast.Set)):
            return self._collection(node, deep)
        if isinstance(node, ast.Dict):
            keys = [self.constant(key, deep + 1) for key in node.keys]
            values = [self.constant(value, deep + 1) for value in node.values]
            return {key: value for key, value in zip(keys, values, strict=True) if isinstance(key, SCALARS)}
        if isinstance(node, ast.UnaryOp) and isinstance(node.op, (ast.USub, ast.UAdd)):
            value = self.constant(node.operand, deep + 1)
            if not isinstance(value, (int, float)):
                return MISSING
            return -value if isinstance(node.op, ast.USub) else value
        if isinstance(node, ast.BinOp):
            return self._calculated(node, deep)
        if isinstance(node, ast.Call):
            return self._made(node, deep)
        if isinstance(node, (ast.Name, ast.Attribute)):
            return self._named(node, deep)
        return MISSING

    def _collection(self, node: ast.List | ast.Tuple | ast.Set, deep: int) -> Any:
        values = [self.constant(each, deep + 1) for each in node.elts]
        if any(value is MISSING for value in values):
            return MISSING
        return list(values) if isinstance(node, ast.List) else tuple(values)

    def _made(self, node: ast.Call, deep: int) -> Any:
        """`frozenset({...})`, `dict(a=1)`."""
        name = self.dotted(node.func)
        if name in {"frozenset", "set", "tuple", "list"} and len(node.args) == 1:
            value = self.constant(node.args[0], deep + 1)
            return tuple(value) if isinstance(value, (list, tuple, dict)) else MISSING
        if name == "dict" and not node.args and all(each.arg for each in node.keywords):
            return {each.arg: self.constant(each.value, deep + 1) for each in node.keywords}
        return MISSING

    def _calculated(self, node: ast.BinOp, deep: int) -> Any:
        left, right = self.constant(node.left, deep + 1), self.constant(node.right, deep + 1)
        if left is MISSING or right is MISSING:
            return MISSING
        if isinstance(left, int) and isinstance(right, int):
            if isinstance(node.op, (ast.Pow, ast.LShift)) and 0 <= right <= 128:
                value = left**right if isinstance(node.op, ast.Pow) else left << right
                return value if abs(value) < _LARGEST else MISSING
        elif isinstance(left, str) and not (isinstance(right, str) and isinstance(node.op, ast.Add)):
            return MISSING
        apply = _OPERATORS.get(type(node.op))
        try:
            return apply(left, right) if apply is not None else MISSING
        except (TypeError, ValueError, ArithmeticError):
            return MISSING

    def _named(self, node: ast.Name | ast.Attribute, deep: int) -> Any:
        name = self.dotted(node)
        found = self.find(name) if name else None
        if found is None or not isinstance(found.node, (ast.Assign, ast.AnnAssign)):
            return MISSING
        owner = self.find(name.rpartition(".")[0]) if "." in name else None
        if owner is not None and isinstance(owner.node, ast.ClassDef) and is_plain_enum(owner.node):
            return MISSING  # a member is not its value
        return self.of(found).constant(found.node.value, deep + 1)


def is_plain_enum(node: ast.ClassDef) -> bool:
    """Whether members of a class differ from their values: an enum that is no text and no number."""
    names = {each.attr if isinstance(each, ast.Attribute) else getattr(each, "id", "") for each in node.bases}
    return bool(names & {"Enum", "Flag"}) and not names & {"str", "int", "float", "bytes"}


def member(owner: ast.ClassDef, name: str) -> ast.stmt | None:
    """What a class body binds to a name; the last one wins."""
    for node in reversed(owner.body):
        if isinstance(node, (*FUNCTIONS, ast.ClassDef)) and node.name == name:
            return node
        if isinstance(node, ast.AnnAssign) and isinstance(node.target, ast.Name) and node.target.id == name:
            return node
        if isinstance(node, ast.Assign) and any(
            isinstance(each, ast.Name) and each.id == name for each in node.targets
        ):
            return node
    return None


def definitions_of(module: ast.Module) -> dict[str, ast.stmt]:
    """What the module level binds by a definition or an assignment; the last one wins."""
    found: dict[str, ast.stmt] = {}
    for node in _top(module):
        if isinstance(node, (*FUNCTIONS, ast.ClassDef)):
            found[node.name] = node
        elif isinstance(node, ast.Assign):
            found.update((each.id, node) for each in node.targets if isinstance(each, ast.Name))
        elif isinstance(node, ast.AnnAssign) and isinstance(node.target, ast.Name):
            found[node.target.id] = node
        elif type(node).__name__ == "TypeAlias":
            found[node.name.id] = node  # type: ignore[attr-defined]
    return found


def _top(module: ast.Module) -> list[ast.stmt]:
    """The statements of the module level, those in its `if` and `try` blocks too."""
    found: list[ast.stmt] = []
    waiting: list[ast.AST] = list(reversed(module.body))
    while waiting:
        node = waiting.pop()
        if isinstance(node, ast.stmt):
            found.append(node)
        if not isinstance(node, (*FUNCTIONS, ast.ClassDef)):
            inner = [each for name in ("body", "handlers", "orelse", "finalbody") for each in getattr(node, name, ())]
            waiting.extend(reversed(inner))
    return found


def imported_names(tree: ast.Module) -> dict[str, str]:
    """Name -> dotted name, for every absolute import of a file, those in functions too."""
    found: dict[str, str] = {}
    for node in statements(tree):
        if isinstance(node, ast.Import):
            for alias in node.names:
                top = alias.name.partition(".")[0]
                found[alias.asname or top] = alias.name if alias.asname else top
        elif isinstance(node, ast.ImportFrom):
            prefix = f"{node.module}." if node.module else ""
            found.update((alias.asname or alias.name, prefix + alias.name) for alias in node.names if alias.name != "*")
    return found


def lookup_in(files: FileSet, path: str) -> Lookup:
    """A lookup for the names of one file of a tree: through its imports and re-exports to the definition."""
    modules = modules_of(files)

    def look(name: str) -> Definition | None:
        parts = name.split(".")
        at = origin(files, modules.module_of(path), parts.pop(0))
        while parts and not at.name:
            at = origin(files, at.module, parts.pop(0))
        home_path = modules.path_of(at.module)
        if home_path is None or not at.name:
            return None
        try:
            source = load(files, home_path)
        except SourceError:
            return None
        tree, known = source.tree, source.notes.get("definitions")
        if not isinstance(known, dict):
            known = source.notes["definitions"] = definitions_of(tree)
        node: ast.AST | None = known.get(at.name)
        for part in parts:
            node = member(node, part) if isinstance(node, ast.ClassDef) else None
        if node is None:
            return None
        qual = ".".join([at.name, *parts])
        return Definition(node, tree, lookup_in(files, home_path), f"{at.module}:{qual}", qual)

    return look
