"""What one file defines, from one walk over its statements: names, classes with their members, parameters of functions.

Only what can be lost is kept. Who reads it is the readers_* modules' question; types of values are not looked at."""

from __future__ import annotations

import ast
import hashlib
from collections import OrderedDict
from collections.abc import Iterator

from msgspec import Struct, field

from codemods.schema.errors import SourceError
from codemods.source.files import FileSet
from codemods.source.locate import flattened
from codemods.source.nodes import walk
from codemods.source.parse import DEFINITIONS, FUNCTIONS, Function, Source, light_tree
from codemods.source.text import Text
from codemods.verify.readers_signatures import Signature, last_name, record_of, signature_of

_KEEP = 1024  # files; an inventory is a few kilobytes
_SIMPLE = frozenset({ast.Assign, ast.AnnAssign, ast.AugAssign, ast.Expr, ast.Return, ast.Raise, ast.Assert, ast.Pass})
_BLOCKS = ("body", "orelse", "finalbody")
_SAME_SIGNATURE = frozenset(
    {"staticmethod", "classmethod", "abstractmethod", "override", "final", "no_grad", "inference_mode"}
    | {"contextmanager", "asynccontextmanager", "lru_cache", "cache"}
)


class Held(Struct, frozen=True):
    """A name that a module or a class binds. kind: function, method, property, class, import, attribute, field."""

    kind: str
    line: int
    signature: Signature | None = None


class ClassInventory(Struct, frozen=True):
    """members: what the class body binds. assigned: what its methods set on the receiver, with the first line.

    is_open: attributes may come by code that no one can list (`__getattr__`, `setattr(self, name, …)`, `__dict__`).
    record: what the constructor takes when it is made from the fields of the class body alone."""

    qualname: str
    line: int
    has_bases: bool
    decorators: frozenset[str]
    members: dict[str, Held]
    assigned: dict[str, int]
    is_open: bool
    record: Signature | None

    @property
    def names(self) -> frozenset[str]:
        return frozenset(self.members) | frozenset(self.assigned)

    @property
    def name(self) -> str:
        return self.qualname.rpartition(".")[2]


class Inventory(Struct, frozen=True):
    """bound: module-level names. exported: texts of `__all__`. stars: whether everything of some module comes in.
    typing_only: names that only a type checker sees."""

    bound: dict[str, Held]
    classes: dict[str, ClassInventory]
    exported: dict[str, int] = {}
    stars: bool = False
    typing_only: frozenset[str] = frozenset()


_NOTHING = Inventory({}, {})
_cache: OrderedDict[tuple[str, bytes], Inventory] = OrderedDict()


def inventory(files: FileSet, path: str) -> Inventory:
    """What a file of the tree defines; nothing for a file that does not parse (its change is residue already)."""
    if path not in files or not path.endswith(".py"):
        return _NOTHING
    key = (path, hashlib.blake2b(text_of(files, path), digest_size=16).digest())
    found = _cache.get(key)
    if found is None:
        try:
            found = _read(*light_tree(files, path))
        except SourceError:
            found = _NOTHING
        _cache[key] = found
        while len(_cache) > _KEEP:
            _cache.popitem(last=False)
    return found


def text_of(files: FileSet, path: str) -> bytes:
    """The bytes of a file; none of one that can't be read, which is no reason to miss the readers in others."""
    try:
        return files.read(path)
    except SourceError:
        return b""


def imports_in(tree: ast.Module) -> Iterator[ast.Import | ast.ImportFrom]:
    """Every import statement, also inside functions."""
    for node in statements(tree.body):
        if isinstance(node, (ast.Import, ast.ImportFrom)):
            yield node


def statements(body: list[ast.stmt]) -> list[ast.stmt]:
    """All statements of a block, nested ones included, without entering expressions."""
    found: list[ast.stmt] = []
    _collect(body, found)
    return found


def _collect(body: list[ast.stmt], found: list[ast.stmt]) -> None:
    for node in body:
        found.append(node)
        if type(node) not in _SIMPLE:
            for block in _BLOCKS:
                inner = getattr(node, block, None)
                if inner:
                    _collect(inner, found)
            for handler in getattr(node, "handlers", ()):
                _collect(handler.body, found)
            for case in getattr(node, "cases", ()):
                _collect(case.body, found)


def is_docstring(source: Source, node: ast.Constant) -> bool:
    """Whether a string is a statement of its own: text for people."""
    return isinstance(source.parents.get(node), ast.Expr)


def _read(text: Text, tree: ast.Module) -> Inventory:
    found = _Reading(text)
    found.module(tree.body)
    typing_only = _typing_names(tree)
    return Inventory(found.bound, found.classes, found.exported, found.stars, typing_only)


def is_for_types(node: ast.AST) -> bool:
    """Whether a statement is `if TYPE_CHECKING:`."""
    return isinstance(node, ast.If) and last_name(node.test) == "TYPE_CHECKING"


def _typing_names(tree: ast.Module) -> frozenset[str]:
    """Names that `if TYPE_CHECKING:` at module level binds, and nothing else there."""
    hidden = [inner for node in tree.body if is_for_types(node) for inner in flattened(node.body)]  # type: ignore[attr-defined]
    if not hidden:
        return frozenset()
    names = {name for node in hidden for name, _ in _bindings(node, "function")}
    others = (node for node in flattened(tree.body) if not any(node is each for each in hidden))
    return frozenset(names - {name for node in others for name, _ in _bindings(node, "function")})


class _Reading:
    def __init__(self, text: Text) -> None:
        self.text = text
        self.bound: dict[str, Held] = {}
        self.classes: dict[str, ClassInventory] = {}
        self.exported: dict[str, int] = {}
        self.stars = False

    def module(self, body: list[ast.stmt]) -> None:
        for node in flattened(body):
            for name, held in _bindings(node, "function"):
                if name == "*":
                    self.stars = True
                else:
                    self.bound[name] = _last(self.bound.get(name), held)
            if isinstance(node, (ast.Assign, ast.AugAssign, ast.AnnAssign)) and "__all__" in _target_names(node):
                for each in walk(node):
                    if isinstance(each, ast.Constant) and isinstance(each.value, str):
                        self.exported[each.value] = each.lineno
            self.nested(node, "")
        for inner in statements(body):
            if isinstance(inner, ast.Global):
                self.bound.update({name: Held("attribute", inner.lineno) for name in inner.names})

    def nested(self, node: ast.stmt, outer: str) -> None:
        if isinstance(node, ast.ClassDef):
            qualname = f"{outer}{node.name}"
            self.classes[qualname] = self.one_class(node, qualname)
            for inner in flattened(node.body):
                self.nested(inner, f"{qualname}.")
        elif isinstance(node, FUNCTIONS) and b"class " in self.text.body:
            for inner in statements(node.body):
                if isinstance(inner, ast.ClassDef):
                    name = f"{outer}{node.name}.<locals>.{inner.name}"
                    self.classes[name] = self.one_class(inner, name)

    def one_class(self, node: ast.ClassDef, qualname: str) -> ClassInventory:
        kept = _Kept()
        for statement in flattened(node.body):
            for name, held in _bindings(statement, "method"):
                kept.members[name] = _last(kept.members.get(name), held)
            if isinstance(statement, ast.Assign) and "__slots__" in _target_names(statement):
                texts = [each for each in walk(statement.value) if isinstance(each, ast.Constant)]
                kept.members.update({str(each.value): Held("attribute", each.lineno) for each in texts})
            if isinstance(statement, FUNCTIONS):
                kept.method(statement)
        decorators = frozenset(last_name(each) for each in node.decorator_list)
        kept.is_open |= bool({"__getattr__", "__getattribute__"} & set(kept.members))
        return ClassInventory(
            qualname,
            node.lineno,
            bool(node.bases),
            decorators,
            kept.members,
            kept.assigned,
            kept.is_open,
            record_of(node),
        )


class _Kept(Struct):
    members: dict[str, Held] = field(default_factory=dict)
    assigned: dict[str, int] = field(default_factory=dict)
    is_open: bool = False

    def method(self, method: Function) -> None:
        arguments = [*method.args.posonlyargs, *method.args.args]
        if not arguments or "staticmethod" in {getattr(each, "id", "") for each in method.decorator_list}:
            return
        me = arguments[0].arg
        for node in statements(method.body):
            for target in _targets(node):
                self.target(target, me)
            if isinstance(node, ast.Expr) and isinstance(node.value, ast.Call):
                self.call(node.value, me)

    def target(self, target: ast.expr, me: str) -> None:
        if isinstance(target, ast.Subscript):
            self.is_open |= _is_dict_of(target.value, me)
        elif isinstance(target, ast.Attribute) and isinstance(target.value, ast.Name) and target.value.id == me:
            self.is_open |= target.attr == "__dict__"
            self.assigned.setdefault(target.attr, target.lineno)

    def call(self, call: ast.Call, me: str) -> None:
        func, arguments = call.func, call.args
        if isinstance(func, ast.Attribute):
            self.is_open |= _is_dict_of(func.value, me) or (
                isinstance(func.value, ast.Call) and [getattr(each, "id", "") for each in func.value.args] == [me]
            )
            if func.attr not in {"__setattr__", "register_buffer", "register_parameter", "add_module"}:
                return
            if isinstance(func.value, ast.Name) and func.value.id == me:
                arguments = [func.value, *arguments]
        elif getattr(func, "id", "") != "setattr":
            return
        if len(arguments) < 2 or getattr(arguments[0], "id", "") != me:
            return
        name = arguments[1]
        if isinstance(name, ast.Constant) and isinstance(name.value, str):
            self.assigned.setdefault(name.value, name.lineno)
        else:
            self.is_open = True


def _is_dict_of(node: ast.expr, me: str) -> bool:
    return isinstance(node, ast.Attribute) and node.attr == "__dict__" and getattr(node.value, "id", "") == me


def _bindings(node: ast.stmt, callable_kind: str) -> Iterator[tuple[str, Held]]:
    if isinstance(node, FUNCTIONS):
        is_method = callable_kind == "method"
        leaves = {last_name(each) for each in node.decorator_list}
        kind = "property" if leaves & {"property", "cached_property", "setter"} else callable_kind
        known = kind != "property" and leaves <= _SAME_SIGNATURE
        yield node.name, Held(kind, node.lineno, signature_of(node, is_method=is_method) if known else None)
    elif isinstance(node, ast.ClassDef):
        yield node.name, Held("class", node.lineno)
    elif isinstance(node, (ast.Import, ast.ImportFrom)):
        for alias in node.names:
            is_from = isinstance(node, ast.ImportFrom)
            name = alias.asname or (alias.name if is_from else alias.name.partition(".")[0])
            yield name, Held("import", alias.lineno)
    elif isinstance(node, ast.AnnAssign) and isinstance(node.target, ast.Name):
        yield node.target.id, Held("field", node.lineno)
    else:
        for name in _target_names(node):
            yield name, Held("attribute", node.lineno)


def _last(before: Held | None, held: Held) -> Held:
    """The later of two bindings; which of two signatures counts is not known."""
    if before is not None and before.signature != held.signature:
        return Held(held.kind, held.line)
    return held


def _targets(node: ast.stmt) -> list[ast.expr]:
    """What a statement assigns to, tuples taken apart."""
    found: list[ast.expr] = []
    if isinstance(node, ast.Assign):
        found = list(node.targets)
    elif (isinstance(node, ast.AnnAssign) and node.value is not None) or isinstance(node, (ast.For, ast.AsyncFor)):
        found = [node.target]
    elif isinstance(node, (ast.With, ast.AsyncWith)):
        found = [item.optional_vars for item in node.items if item.optional_vars is not None]
    flat: list[ast.expr] = []
    while found:
        target = found.pop()
        if isinstance(target, (ast.Tuple, ast.List)):
            found.extend(target.elts)
        else:
            flat.append(target.value if isinstance(target, ast.Starred) else target)
    return flat


def _target_names(node: ast.stmt) -> list[str]:
    if isinstance(node, DEFINITIONS):
        return []
    targets = [node.target] if isinstance(node, ast.AugAssign) else _targets(node)
    return [each.id for each in targets if isinstance(each, ast.Name)]
