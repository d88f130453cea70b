"""What the rest of the tree may show of functions and classes beside running them: their names, their annotations, and
which members a class or a module has, in which order.

Looks at files that changed, that say the name, or that changed files import from. What only code outside of the tree
shows is out of sight."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator

from codemods.schema.errors import SourceError
from codemods.schema.verdict import Problem
from codemods.source.import_effects import is_inert_call
from codemods.source.index import mentioning
from codemods.source.nodes import below
from codemods.verify.change import TreeChange
from codemods.verify.frames import Claims
from codemods.verify.names import Names

_FUNCTIONS = (ast.FunctionDef, ast.AsyncFunctionDef)
_DEFINED = (*_FUNCTIONS, ast.ClassDef)
_NAMES = ("__name__", "__qualname__")
# Of classes, asked by `type(x).__name__` and the like, others take care.
_SHOWN_NAME = re.compile(rb"(?<!__class__)(?<!\bcls)(?<!\btype\(self\))(?<=[\w)\]])\.__(?:qual)?name__")
_SHOWN_QUALNAME = re.compile(rb"\.__qualname__")
_HINTS = ("__annotations__", "get_type_hints", "signature", "get_annotations", "annotation")
_SHOWN_HINTS = re.compile(rb"\b(?:__annotations__|get_type_hints|get_annotations|signature)\b|\.annotation\b")
_LISTS = ("getmembers", "__dict__", "vars", "dir")
_SHOWN_MEMBERS = re.compile(rb"\bgetmembers\(|(?<!self)\.__dict__\b|\b(?:vars|dir)\((?!self\b|\))|\bin body\b")
# From a match on, and up to one.
_ONE_ASKED = re.compile(
    rb"(?:\.__dict__|vars\([\w.]+\))(?:(?:\[|\.get\()[rbf]?(?P<quote>['\"])\w+(?P=quote)|\.update\()"
)
_ONE_IN = re.compile(rb"(?P<quote>['\"])\w+(?P=quote) (?:not )?in (?:[\w.]+)?\Z")
_SHOWN_GLOBALS = re.compile(
    rb"\bgetmembers\(|\bglobals\(\)\.(?:items|values|copy)|\b(?:vars|dir)\(\)|\bdir\(\w|sys\.modules\[__name__\]"
)


class Shapes:
    """Compares what two trees define, as far as somebody may look at it. nested: functions inside functions that were
    compared: path and line, (name before, name now), whether the function around is another one."""

    def __init__(
        self, change: TreeChange, claims: Claims, old: Names, new: Names, nested: list[tuple[str, ast.AST, str, bool]]
    ) -> None:
        self.change, self.claims, self.names = change, claims, (old, new)
        self._nested = [(path, node, was, moved) for path, node, was, moved in nested if moved or _name(node) != was]
        self._renamed = [
            (before, after)
            for before, after in claims.pairs.items()
            if _leaf(before[1]) != _leaf(after[1]) and isinstance(new.definitions(after[0])[after[1]], _FUNCTIONS)
        ]
        self._hinted = list(self._other_hints())
        self._owners = list(self._other_members())

    def words(self) -> set[str]:
        """What will be looked for."""
        found: set[str] = set()
        if self._renamed or self._nested:
            found |= set(_NAMES)
        if self._hinted:
            found |= set(_HINTS)
        if self._owners:
            found |= set(_LISTS)
        return found

    def problems(self) -> Iterator[Problem]:
        """Everything that is found."""
        yield from self._names_shown()
        yield from self._hints_shown()
        yield from self._members_shown()

    # ---- names of functions

    def _names_shown(self) -> Iterator[Problem]:
        for path, node, was, _ in self._nested:
            if not self._escapes(path, node):
                continue
            pattern = _SHOWN_NAME if _name(node) != was else _SHOWN_QUALNAME
            if reader := self._reader(_name(node), _NAMES, pattern):
                what = f"{was} has another name or place now, and {reader[0]} may show it"
                yield Problem(path, getattr(node, "lineno", 1), "U110", what)
        for before, after in self._renamed:
            name = _leaf(after[1])
            users = {after[0], *mentioning(self.change.new, name)}
            is_seen = any(self._is_handed_on(each, name) for each in users)
            if is_seen and (reader := self._reader(name, _NAMES, _SHOWN_NAME)):
                yield Problem(*reader, "U110", f"shows names of functions; {_leaf(before[1])} is {name} now")

    def _escapes(self, path: str, node: ast.AST) -> bool:
        """Whether a function inside a function is used other than by a call."""
        around = self._around(path, node)
        return bool(getattr(node, "decorator_list", ())) or around is None or _is_used(around, _name(node))

    def _around(self, path: str, node: ast.AST) -> ast.AST | None:
        line = getattr(node, "lineno", 0)
        holders = [
            each
            for each in below(self.names[1].tree(path))
            if isinstance(each, _FUNCTIONS) and each is not node and each.lineno < line <= (each.end_lineno or 0)
        ]
        return max(holders, key=lambda each: each.lineno) if holders else None

    def _is_handed_on(self, path: str, name: str) -> bool:
        """Whether a file uses a function of this name other than by a call, or decorates it."""
        try:
            tree = ast.parse(self._read(path))
        except (SyntaxError, ValueError, RecursionError, MemoryError):
            return False
        decorated = any(
            isinstance(each, _FUNCTIONS) and each.name == name and not all(map(is_inert_call, each.decorator_list))
            for each in below(tree)
        )
        return decorated or _is_used(tree, name)

    # ---- annotations

    def _other_hints(self) -> Iterator[tuple[str, ast.stmt]]:
        """Functions and classes whose annotations are others now."""
        back = {after: before for before, after in self.claims.pairs.items()}
        for path in sorted(self.claims.changed):
            for name, node in self.names[1].definitions(path).items() if path in self.names[1].files else ():
                before = back.get((path, name), (path, name))
                was = self.names[0].definitions(before[0]).get(before[1]) if self.names[0].has(before) else None
                if isinstance(node, _DEFINED) and isinstance(was, _DEFINED) and _hints(was) != _hints(node):
                    yield path, node

    def _hints_shown(self) -> Iterator[Problem]:
        for path, node in self._hinted:
            name = _name(node)
            marks = [each for each in getattr(node, "decorator_list", ()) if not is_inert_call(each)]
            reader = (path, node.lineno) if marks else self._reader(name, _HINTS, _SHOWN_HINTS)
            if reader:
                who = ast.unparse(marks[0]) if marks else reader[0]
                yield Problem(path, node.lineno, "U111", f"annotations of {name} changed, and {who} may read them")

    # ---- members

    def _other_members(self) -> Iterator[tuple[str, str, ast.stmt | None]]:
        """Classes, and modules with "", that have other functions now, or the same in another order."""
        for path in sorted(self.claims.changed):
            if not all(path in names.files for names in self.names):
                continue
            trees = [names.tree(path) for names in self.names]
            if _members(trees[0]) != _members(trees[1]):
                yield path, "", None
            for name, node in self.names[1].definitions(path).items():
                was = self.names[0].definitions(path).get(name)
                if isinstance(node, ast.ClassDef) and isinstance(was, ast.ClassDef) and _members(was) != _members(node):
                    yield path, name, node

    def _members_shown(self) -> Iterator[Problem]:
        change = "which is more, less or in another order now"
        for path, name, node in self._owners:
            raw = self._read(path)
            if not isinstance(node, ast.ClassDef):
                found = _SHOWN_GLOBALS.search(raw)
                if found is not None:
                    line = raw.count(b"\n", 0, found.start()) + 1
                    yield Problem(path, line, "U111", f"lists what the module holds, {change}")
            elif self._has_maker(path, node):
                yield Problem(path, node.lineno, "U111", f"its metaclass may list what {name} holds, {change}")
            elif reader := self._reader(_leaf(name), _LISTS, _SHOWN_MEMBERS):
                yield Problem(*reader, "U111", f"may list what {name} holds, {change}")

    def _has_maker(self, path: str, node: ast.ClassDef) -> bool:
        """Whether a class is made by a metaclass of the tree."""
        for each in node.keywords:
            parts = ast.unparse(each.value).split(".")
            ref = self.names[1].followed(path, parts) if each.arg == "metaclass" else None
            if ref is not None and ref[0] == "top":
                return True
        return False

    # ---- readers

    def _reader(self, name: str, words: tuple[str, ...], pattern: re.Pattern[bytes]) -> tuple[str, int] | None:
        """A place near enough that matches."""
        near = {*self.claims.changed, *mentioning(self.change.new, name), *self._imported()}
        for path in sorted(near & {each for word in words for each in mentioning(self.change.new, word)}):
            raw = self._read(path)
            for found in pattern.finditer(raw):
                if not _is_lookup(raw, found):
                    return path, raw.count(b"\n", 0, found.start()) + 1
        return None

    def _imported(self) -> Iterator[str]:
        """The files that changed files import from."""
        names = self.names[1]
        for path in self.claims.changed:
            for node in below(names.tree(path)) if path in names.files else ():
                words = []
                if isinstance(node, ast.ImportFrom):
                    base = names.modules.absolute(path, node.level, node.module)
                    words = [base, *(f"{base}.{alias.name}" for alias in node.names)]
                elif isinstance(node, ast.Import):
                    words = [alias.name for alias in node.names]
                yield from (each for word in words if (each := names.modules.path_of(word, near=path)) is not None)

    def _read(self, path: str) -> bytes:
        try:
            return self.change.new.read(path)
        except (SourceError, KeyError):  # too large to be code
            return b""


def _is_lookup(raw: bytes, found: re.Match[bytes]) -> bool:
    """Whether one member alone is asked for, by a name that is written out: `vars(x)["k"]`, `"k" in x.__dict__`; or
    only written. A name that went is looked for by itself."""
    return (
        _ONE_ASKED.match(raw, found.start()) is not None
        or _ONE_IN.search(raw, max(found.start() - 200, 0), found.start()) is not None
    )


def _leaf(qualname: str) -> str:
    return qualname.rpartition(".")[2]


def _name(node: ast.AST) -> str:
    return str(getattr(node, "name", ""))


def _is_used(tree: ast.AST, name: str) -> bool:
    """Whether a piece of code says a name other than to call it."""
    called = {id(each.func) for each in below(tree) if isinstance(each, ast.Call)}
    said = [each for each in below(tree) if isinstance(each, (ast.Name, ast.Attribute)) and id(each) not in called]
    return any(
        getattr(each, "id", getattr(each, "attr", "")) == name and isinstance(each.ctx, ast.Load) for each in said
    )


def _hints(node: ast.stmt) -> list[tuple[str, str]]:
    """What is annotated in a function's signature or in a class body, and how."""
    if isinstance(node, ast.ClassDef):
        return [
            (ast.unparse(each.target), ast.unparse(each.annotation))
            for each in node.body
            if isinstance(each, ast.AnnAssign)
        ]
    assert isinstance(node, _FUNCTIONS)
    args = node.args
    parts = [*args.posonlyargs, *args.args, *args.kwonlyargs, *filter(None, (args.vararg, args.kwarg))]
    found = [(each.arg, ast.unparse(each.annotation)) for each in parts if each.annotation is not None]
    return sorted([*found, ("return", ast.unparse(node.returns))] if node.returns is not None else found)


def _members(node: ast.Module | ast.ClassDef) -> list[str]:
    return [each.name for each in node.body if isinstance(each, _DEFINED)]
