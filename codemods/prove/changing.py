"""What the functions of one module change of what outlives a call: contents of tables, attributes of objects and of
classes. By the text, one module at a time; whose names they are, and whether that makes them inputs: moments.py."""

from __future__ import annotations

import ast
from collections.abc import Collection, Iterator

from codemods.prove.sides import FunctionNode, ModuleFacts

CHANGING = frozenset(
    """
        append add update setdefault pop popitem clear extend insert remove discard appendleft popleft extendleft
        move_to_end sort reverse rotate subtract difference_update intersection_update symmetric_difference_update
        __setitem__ __delitem__
    """.split()
)
_NOTE = "_u_changes"
Path = tuple[str, ...]  # `self._seen`, `module.TABLE`, `TABLE`
_CLASS = "cls"


class Changes:
    """`contents`: what is changed in place. `stored`: attributes that are bound. `handed`: what leaves for code that
    may change it. Each with the functions that do it, by their own name."""

    def __init__(self, tree: ast.Module) -> None:
        self.contents: dict[Path, set[str]] = {}
        self.stored: dict[Path, set[str]] = {}
        self.handed: dict[Path, set[str]] = {}
        self.calls: dict[str, set[str]] = {}  # the names that each function uses
        for function in functions_in(tree):
            _Function(self, function).read()

    def reaching(self, names: set[str]) -> frozenset[str]:
        """These functions, and those of the module that use one of them."""
        found = set(names)
        size = -1
        while size != len(found):
            size = len(found)
            found.update(name for name, used in self.calls.items() if not used.isdisjoint(found))
        return frozenset(found)


def changes_of(facts: ModuleFacts) -> Changes:
    """Of a module as it was read; a mutant of it changes no less."""
    found = facts.__dict__.get(_NOTE)
    if found is None:
        found = facts.__dict__[_NOTE] = Changes(facts.tree)
    assert isinstance(found, Changes)
    return found


def changes_about(facts: ModuleFacts, *names: str) -> Changes:
    """Only of the functions that mention one of these names: to read all of a large module takes long."""
    found: dict[tuple[str, ...], Changes] = facts.__dict__.setdefault(f"{_NOTE}_about", {})
    if names not in found:
        words = [name.encode() for name in names]
        lines = facts.raw.split(b"\n")
        nodes = [
            each
            for each in functions_in(facts.tree)
            if _mentions(b"\n".join(lines[each.lineno - 1 : each.end_lineno]), words)
        ]
        found[names] = Changes(ast.Module(body=[*nodes], type_ignores=[]))
    return found[names]


def _mentions(text: bytes, words: list[bytes]) -> bool:
    return any(word in text for word in words)


def changes_by(facts: ModuleFacts, name: str) -> Changes:
    """Only of the functions of this name."""
    found: dict[str, Changes] = facts.__dict__.setdefault(f"{_NOTE}_by", {})
    if name not in found:
        nodes = _named(facts).get(name, [])
        found[name] = Changes(ast.Module(body=[*nodes], type_ignores=[]))
    return found[name]


def names_of_functions(facts: ModuleFacts) -> Collection[str]:
    return _named(facts).keys()


def _named(facts: ModuleFacts) -> dict[str, list[FunctionNode]]:
    found: dict[str, list[FunctionNode]] | None = facts.__dict__.get(f"{_NOTE}_named")
    if found is None:
        found = facts.__dict__[f"{_NOTE}_named"] = {}
        for each in functions_in(facts.tree):
            found.setdefault(each.name, []).append(each)
    return found


def functions_in(tree: ast.Module) -> Iterator[FunctionNode]:
    """The outermost functions, those of classes among them."""
    pending: list[ast.AST] = [tree]
    while pending:
        for each in ast.iter_child_nodes(pending.pop()):
            if isinstance(each, FunctionNode):
                yield each
            elif isinstance(each, ast.stmt | ast.ExceptHandler):
                pending.append(each)


_LOOKED_AT = (
    ast.Attribute, ast.Subscript, ast.AugAssign, ast.Compare, ast.For, ast.AsyncFor, ast.comprehension, ast.Call,
)  # fmt: skip


class _Function:
    def __init__(self, into: Changes, node: FunctionNode) -> None:
        self._into, self._node = into, node
        self._nodes = list(ast.walk(node))
        self._local = _bound_in(self._nodes)
        self._others: dict[str, Path] = {}  # names that stand for something that outlives the call
        self._inside: set[int] = set()  # parts of a longer path, and what is only looked at

    def read(self) -> None:
        used = self._into.calls.setdefault(self._node.name, set())
        nodes = self._nodes
        for each in nodes:
            if isinstance(each, ast.Name):
                used.add(each.id)
            elif isinstance(each, ast.Attribute):
                used.add(each.attr)
            elif isinstance(each, ast.Assign) and len(each.targets) == 1 and isinstance(each.targets[0], ast.Name):
                path = self._path(each.value)
                if path:
                    self._others[each.targets[0].id] = path
        for each in nodes:
            if isinstance(each, _LOOKED_AT):
                self._look(each)
        for each in nodes:
            if isinstance(each, ast.Name | ast.Attribute):
                self._hand(each)

    def _look(self, node: ast.AST) -> None:
        if isinstance(node, ast.Attribute):
            self._inside.add(id(node.value))
            if not isinstance(node.ctx, ast.Load):
                self._note(self._into.stored, self._path(node))
        elif isinstance(node, ast.Subscript):
            self._inside.add(id(node.value))
            if not isinstance(node.ctx, ast.Load):
                self._note(self._into.contents, self._path(node.value))
        elif isinstance(node, ast.AugAssign) and isinstance(node.target, ast.Name | ast.Attribute):
            self._note(self._into.contents, self._path(node.target))
        elif isinstance(node, ast.Compare):
            self._inside.update(map(id, [node.left, *node.comparators]))
        elif isinstance(node, ast.For | ast.AsyncFor | ast.comprehension):
            self._inside.add(id(node.iter))
        elif isinstance(node, ast.Call):
            self._call(node)

    def _call(self, node: ast.Call) -> None:
        function = node.func
        if isinstance(function, ast.Attribute) and function.attr in CHANGING:
            self._note(self._into.contents, self._path(function.value))
        if isinstance(function, ast.Name) and function.id in ("setattr", "delattr") and len(node.args) > 1:
            name = node.args[1].value if isinstance(node.args[1], ast.Constant) else None
            path = self._path(node.args[0])
            if isinstance(name, str):
                self._note(self._into.stored, (*(path or ("?",)), name))
        elif isinstance(function, ast.Name) and function.id in _LOOKING:
            self._inside.update(map(id, node.args))

    def _hand(self, node: ast.Name | ast.Attribute) -> None:
        """Something that is used whole: an argument, a result, a part of another thing."""
        if isinstance(node.ctx, ast.Load) and id(node) not in self._inside:
            self._note(self._into.handed, self._path(node))

    def _note(self, into: dict[Path, set[str]], path: Path) -> None:
        if path:
            into.setdefault(path, set()).add(self._node.name)

    def _path(self, node: ast.expr) -> Path:
        """`a.b.c` as names, from what outlives the call on; empty where it does not, or nobody can tell."""
        path: list[str] = []
        while True:
            if isinstance(node, ast.Attribute):
                if node.attr == "__class__":
                    return (_CLASS, *reversed(path))
                path.append(node.attr)
                node = node.value
            elif isinstance(node, ast.Subscript) and not path:
                node = node.value  # a change of what is in a table is one of the table
            elif isinstance(node, ast.Name):
                break
            else:
                is_type = isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.func.id == "type"
                if is_type:
                    return (_CLASS, *reversed(path))
                return ("?", *reversed(path)) if path else ()
        if node.id in self._others and node.id in self._local:
            return (*self._others[node.id], *reversed(path))
        if node.id in self._local and not path:
            return ()
        return (node.id, *reversed(path))


_LOOKING = frozenset(
    "len sorted list dict tuple set frozenset any all min max sum enumerate isinstance bool str".split()
)


def _bound_in(nodes: list[ast.AST]) -> set[str]:
    """The names that are a function's own."""
    found: set[str] = set()
    shared: set[str] = set()
    for each in nodes:
        if isinstance(each, ast.Name):
            if not isinstance(each.ctx, ast.Load):
                found.add(each.id)
        elif isinstance(each, ast.arg):
            found.add(each.arg)
        elif isinstance(each, ast.Global):
            shared.update(each.names)
        elif isinstance(each, ast.ExceptHandler) and each.name:
            found.add(each.name)
    return found - shared
