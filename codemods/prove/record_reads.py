"""Which attributes of its arguments, and which environment variables, a function may read: from its text, and from the
text of what it hands them to, as far as that can be followed (methods of the objects at hand, functions of modules).

A value that goes where it can't be followed is read as a whole. Standard library alone: it runs in the recorded
program, reads source files and runs nothing."""

from __future__ import annotations

import ast
import inspect
import types
from typing import Any

from .record_values import WHOLE, Reads, state_of  # noqa: TID252 -- see record_values.py

_MAX_FUNCTIONS, _MAX_FILES = 60, 24
_MISSING = object()
# Calls that look at the object's class or identity, and at no attribute.
_HARMLESS = frozenset({"isinstance", "type", "id", "callable"})
_BY_NAME = frozenset({"getattr", "hasattr", "setattr", "delattr"})
_ENVIRON = ("os.environ", "environ")
_Function = ast.FunctionDef | ast.AsyncFunctionDef
_trees: dict[str, dict[tuple[str, int], tuple[_Function, str]]] = {}


class Found:
    """Of one function: parameter -> what it may read of it; the environment; what could not be known."""

    def __init__(self) -> None:
        self.parameters: dict[str, Reads] = {}
        self.environment: set[str] = set()
        self.notes: set[str] = set()

    def of(self, name: str) -> Reads:
        return self.parameters.get(name, WHOLE)


def reads_of(code: types.CodeType, names: dict[str, Any], values: dict[str, Any]) -> Found:
    """names: the function's globals. values: of its parameters in one call, for their classes."""
    found = Found()
    walk = _Walk(found)
    found.parameters = {name: Reads() for name in code.co_varnames[: num_parameters(code)]}
    for name, reads in found.parameters.items():
        walk.values[id(reads)] = values.get(name, _MISSING)
    if not walk.function(code, names, found.parameters):
        found.parameters = {}
        found.notes.add("the text of the function can't be read; everything within the limits was kept")
    return found


def num_parameters(code: types.CodeType) -> int:
    return code.co_argcount + code.co_kwonlyargcount + bool(code.co_flags & 4) + bool(code.co_flags & 8)


def node_of(code: types.CodeType) -> tuple[_Function, str] | None:
    """The definition that `code` was made from, and the class it stands in; None where its text is not there."""
    path = code.co_filename
    if path not in _trees:
        _trees[path] = {}
        if len(_trees) > _MAX_FILES:
            return None
        try:
            with open(path, "rb") as file:
                tree = ast.parse(file.read(), path)
        except (OSError, SyntaxError, ValueError, RecursionError):
            return None
        owners = {
            id(each): node.name for node in ast.walk(tree) if isinstance(node, ast.ClassDef) for each in node.body
        }
        for node in ast.walk(tree):
            if isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef)):
                first = min([node.lineno, *(each.lineno for each in node.decorator_list)])
                _trees[path][node.name, first] = (node, owners.get(id(node), ""))
    return _trees[path].get((code.co_name, code.co_firstlineno))


class _Walk:
    """Follows values from the parameters of one function through what it calls."""

    def __init__(self, found: Found) -> None:
        self.found = found
        self.done: set[tuple[types.CodeType, str, int]] = set()
        self.values: dict[int, Any] = {}  # of what is read, where one is at hand

    def function(self, code: types.CodeType, names: dict[str, Any], roots: dict[str, Reads]) -> bool:
        """Adds to the reads in `roots`, by parameter. False when there is no text."""
        found = node_of(code)
        if found is None:
            return False
        _Body(self, found[0], found[1], names, roots).walk()
        return True

    def at(self, reads: Reads, name: str) -> Reads:
        inner = reads.at(name)
        value = self.values.get(id(reads), _MISSING)
        if id(inner) not in self.values and value is not _MISSING:
            self.values[id(inner)] = state_of(value).get(name, _MISSING)
        return inner

    def member(self, reads: Reads, name: str) -> Any:
        """What the class of a value has under a name."""
        value = self.values.get(id(reads), _MISSING)
        if value is _MISSING:
            return None
        kind = type(value)
        return inspect.getattr_static(value if issubclass(kind, type) else kind, name, None)

    def call(self, target: types.FunctionType, given: list[tuple[int | str, Reads]]) -> bool:
        """Hands values to a function. given: position or keyword -> what is read of the value. False: not followed."""
        while hasattr(target, "__wrapped__") and isinstance(target.__wrapped__, types.FunctionType):
            target = target.__wrapped__
        code = target.__code__
        positional = code.co_varnames[: code.co_argcount]
        known = code.co_varnames[: code.co_argcount + code.co_kwonlyargcount]
        roots: dict[str, Reads] = {}
        for key, reads in given:
            name = key if isinstance(key, str) else positional[key] if key < len(positional) else ""
            if name not in known:
                return False
            roots[name] = reads
        marks = [(code, name, id(reads)) for name, reads in roots.items()]
        if all(mark in self.done for mark in marks):
            return True
        if len(self.done) > _MAX_FUNCTIONS:
            return False
        self.done.update(marks)
        return self.function(code, target.__globals__, roots)


class _Body:
    """One function's text."""

    def __init__(
        self, walk: _Walk, node: _Function, owner: str, names: dict[str, Any], roots: dict[str, Reads]
    ) -> None:
        self.walker, self.node, self.names = walk, node, names
        self.prefix = f"_{owner.lstrip('_')}"
        self.roots = dict(roots)
        self.parents = {child: parent for parent in ast.walk(node) for child in ast.iter_child_nodes(parent)}
        self.followed: set[ast.expr] = set()

    def walk(self) -> None:
        inside = [each for part in self.node.body for each in ast.walk(part)]
        self._find_aliases(inside)
        for each in inside:
            if isinstance(each, ast.Call):
                self._call(each)
        for each in inside:
            if isinstance(each, ast.Name) and each.id in self.roots and each not in self.followed:
                if isinstance(each.ctx, ast.Load):
                    self._use(each)
            elif isinstance(each, (ast.Call, ast.Subscript, ast.Compare)):
                self._environment(each)

    def _real(self, name: str) -> str:
        """An attribute's name as it is looked up: a private one gets the class's before it."""
        is_private = name.startswith("__") and not name.endswith("__") and self.prefix != "_"
        return self.prefix + name if is_private else name

    def _find_aliases(self, inside: list[ast.AST]) -> None:
        """`config = self.config`, where `config` is bound nowhere else, is another name for the same value."""
        bound: dict[str, int] = {}
        for each in inside:
            if isinstance(each, ast.Name) and not isinstance(each.ctx, ast.Load):
                bound[each.id] = bound.get(each.id, 0) + 1
        for name in [name for name in self.roots if bound.get(name)]:
            self.roots[name].whole = True  # bound anew somewhere: no way to tell which of the two is read
        for each in inside:
            if isinstance(each, ast.Assign) and len(each.targets) == 1 and isinstance(each.targets[0], ast.Name):
                name, reads = each.targets[0].id, self._chain(each.value)
                if reads is not None and bound.get(name) == 1 and name not in self.roots:
                    self.roots[name] = reads
                    self._follow(each.value)

    def _chain(self, node: ast.expr) -> Reads | None:
        """What is read of `a.b.c`, where `a` is followed."""
        if isinstance(node, ast.Name):
            return self.roots.get(node.id)
        if isinstance(node, ast.Attribute):
            inner = self._chain(node.value)
            return None if inner is None else self.walker.at(inner, self._real(node.attr))
        return None

    def _follow(self, node: ast.expr) -> None:
        while isinstance(node, ast.Attribute):
            node = node.value
        self.followed.add(node)

    def _use(self, name: ast.Name) -> None:
        node: ast.expr = name
        reads = self.roots[name.id]
        while isinstance(parent := self.parents[node], ast.Attribute):
            if not isinstance(parent.ctx, ast.Load):
                reads.written.add(self._real(parent.attr))
                if not isinstance(self.parents[parent], ast.AugAssign):
                    return
            name_in_class = self._real(parent.attr)
            self._property(name_in_class, reads)
            reads, node = self.walker.at(reads, name_in_class), parent
        if not self._is_only_looked_at(node):
            reads.whole = True

    def _is_only_looked_at(self, node: ast.expr) -> bool:
        """Compared by identity, asked for its truth, or called."""
        parent = self.parents[node]
        if isinstance(parent, ast.Compare):
            return all(isinstance(each, (ast.Is, ast.IsNot)) for each in parent.ops)
        if isinstance(parent, ast.Call):
            return parent.func is node or (isinstance(parent.func, ast.Name) and parent.func.id in _HARMLESS)
        return (isinstance(parent, (ast.If, ast.While, ast.IfExp)) and parent.test is node) or isinstance(
            parent, ast.Not
        )

    def _property(self, name: str, reads: Reads) -> None:
        """A property reads attributes of its object."""
        found = self.walker.member(reads, name)
        getter = getattr(found, "fget", None) or getattr(found, "func", None)
        if isinstance(getter, types.FunctionType):
            self.walker.call(getter, [(0, reads)])

    def _call(self, node: ast.Call) -> None:
        """Follows what is handed to a function or a method whose text is at hand."""
        if isinstance(node.func, ast.Name) and node.func.id in _BY_NAME and len(node.args) >= 2:
            reads, key = self._chain(node.args[0]), node.args[1]
            if reads is not None and isinstance(key, ast.Constant) and isinstance(key.value, str):
                reads.at(key.value).add(WHOLE)
                self._follow(node.args[0])
            return
        given: list[tuple[int | str, Reads]] = []
        handed: list[ast.expr] = []
        for at, value in enumerate(node.args):
            if (reads := self._chain(value)) is not None:
                given.append((at, reads))
                handed.append(value)
        for keyword in node.keywords:
            if (reads := self._chain(keyword.value)) is not None and keyword.arg is not None:
                given.append((keyword.arg, reads))
                handed.append(keyword.value)
        target, receiver = self._callee(node.func)
        if target is None or any(isinstance(each, ast.Starred) for each in node.args):
            return
        if receiver is not None:
            given = [(0, receiver), *((key + 1 if isinstance(key, int) else key, reads) for key, reads in given)]
        if given and self.walker.call(target, given):
            for value in handed:
                self._follow(value)

    def _callee(self, func: ast.expr) -> tuple[types.FunctionType | None, Reads | None]:
        """The function, and what is read of the receiver when it is a method of one."""
        found: Any = None
        receiver: Reads | None = None
        if isinstance(func, ast.Name):
            found = self.names.get(func.id) if func.id not in self.roots else None
        elif isinstance(func, ast.Attribute):
            receiver = self._chain(func.value)
            if receiver is not None:
                found = self.walker.member(receiver, self._real(func.attr))
                if isinstance(found, staticmethod):
                    return (found.__func__, None) if isinstance(found.__func__, types.FunctionType) else (None, None)
                if isinstance(found, classmethod):
                    found = found.__func__
            elif isinstance(func.value, ast.Name) and isinstance(self.names.get(func.value.id), types.ModuleType):
                found = vars(self.names[func.value.id]).get(func.attr)
        return (found, receiver) if isinstance(found, types.FunctionType) else (None, None)

    def _environment(self, node: ast.AST) -> None:
        """`os.environ["X"]`, `os.environ.get("X")`, `os.getenv("X")`, `"X" in os.environ`. Names that are put together
        are noticed when they are looked up (record_environ.py)."""
        name: ast.expr | None = None
        if isinstance(node, ast.Subscript) and ast.unparse(node.value) in _ENVIRON:
            if isinstance(node.ctx, ast.Store):
                return
            name = node.slice
        elif isinstance(node, ast.Compare) and ast.unparse(node.comparators[0]) in _ENVIRON:
            name = node.left
        elif isinstance(node, ast.Call) and node.args:
            called = ast.unparse(node.func)
            owner, _, method = called.rpartition(".")
            if called in ("os.getenv", "getenv") or (owner in _ENVIRON and method in ("get", "setdefault", "pop")):
                name = node.args[0]
        if isinstance(name, ast.Constant) and isinstance(name.value, str):
            self.walker.found.environment.add(name.value)
