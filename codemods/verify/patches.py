"""Names of a module that somebody sets from outside, where code that read them has moved to another module: what is set
does not reach it any more.

Looks at functions that moved and at functions that only the new side has; what sets a name by a computed one is not
seen."""

from __future__ import annotations

import ast
import re
from collections.abc import Collection, Iterator

from codemods.schema.errors import SourceError
from codemods.schema.verdict import Problem
from codemods.source.index import mentioning
from codemods.source.nodes import walk
from codemods.verify.change import TreeChange
from codemods.verify.frames import Claims
from codemods.verify.names import Definition, Names

_FUNCTIONS = (ast.FunctionDef, ast.AsyncFunctionDef)


class Patches:
    """(old path, name): what code read of a module before it moved out of it."""

    def __init__(
        self, change: TreeChange, claims: Claims, old: Names, new: Names, entered: Collection[Definition]
    ) -> None:
        """entered: functions of the new tree that stand for code that was elsewhere before."""
        self.change, self.old = change, old
        self._read: set[tuple[str, str]] = set()
        for before, after in claims.pairs.items():
            node = old.definitions(before[0])[before[1]]
            if claims.modules.get(before[0], before[0]) != after[0] and isinstance(node, _FUNCTIONS):
                self._read |= {(before[0], name) for name in _names(node) if self._is_own(before[0], name)}
        paired = {*claims.pairs.values()}
        homes = [path for path in sorted(claims.changed) if path in change.old]
        for path in sorted(claims.changed):
            for qualname, node in new.definitions(path).items() if path in change.new else ():
                is_alone = (path, qualname) not in paired and not old.has((path, qualname))
                if is_alone and isinstance(node, _FUNCTIONS) and (path, qualname) in entered:
                    names = _names(node)
                    self._read |= {(h, n) for h in homes if h != path for n in names if self._is_own(h, n)}

    def _is_own(self, path: str, name: str) -> bool:
        """Whether a module has the name from the tree: its own value or function, or one that it imports."""
        return name in self.old.table(path) and self.old.resolve(path, name)[0] == "top"

    def _tail(self, path: str) -> str:
        return self.old.modules.module_of(path).rpartition(".")[2]

    def words(self) -> set[str]:
        """What will be looked for."""
        return {word for path, name in self._read for word in (self._tail(path), name)}

    def problems(self) -> Iterator[Problem]:
        """Who sets one of these names from outside."""
        for path, name in sorted(self._read):
            tail, word = re.escape(self._tail(path).encode()), name.encode()
            dotted = self._tail(path).encode() + b"." + word
            sets = re.compile(
                rb"\b" + tail + rb"\." + word + rb"\s*=(?!=)|[\"'][\w.]*\b" + tail + rb"\." + word + rb"[\"']"
            )
            by_text = re.compile(rb"\(\s*[\w.]*\b" + tail + rb"\s*,\s*[\"']" + word + rb"[\"']")
            for each in mentioning(self.change.new, self._tail(path), name):
                try:
                    raw = self.change.new.read(each)
                except SourceError:  # too large to be code
                    continue
                found = sets.search(raw) if dotted in raw else None
                starts = [*_setters(raw, by_text), *([found.start()] if found is not None else ())]
                if starts:
                    line = raw.count(b"\n", 0, min(starts)) + 1
                    text = f"sets `{name}` of {self.old.modules.module_of(path)}, and code that read it there has moved"
                    yield Problem(each, line, "U111", text)


def _setters(raw: bytes, given: re.Pattern[bytes]) -> Iterator[int]:
    """Where something is set by its name. given: what is called with it, from the bracket on."""
    for function in (b"setattr", b"patch.object"):
        at = raw.find(function)
        while at >= 0:
            if given.match(raw, at + len(function)) is not None:
                yield at
            at = raw.find(function, at + 1)


def _names(node: ast.AST) -> set[str]:
    return {each.id for each in walk(node) if isinstance(each, ast.Name) and isinstance(each.ctx, ast.Load)}
