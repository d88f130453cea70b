"""Definitions that went away and that nothing in the new tree could want: dead code that was removed.

A whole-word search decides: code, strings, documents and settings count, and so do names that are put together from a
beginning. What is not private by its name, has a decorator or bases, or is in a class with bases from outside the tree
is never called dead."""

from __future__ import annotations

import ast
from collections.abc import Iterator

from codemods.schema.errors import SourceError
from codemods.source.import_effects import is_inert
from codemods.source.index import DOCUMENT_SUFFIXES, PYTHON_SUFFIXES, mentioning
from codemods.source.nodes import below
from codemods.verify.change import TreeChange
from codemods.verify.frames import Claims, Line
from codemods.verify.kernel import Kernel
from codemods.verify.moments import NEW, OLD
from codemods.verify.names import Definition, Names, Unreadable
from codemods.verify.surroundings import computed_texts

_FUNCTIONS = (ast.FunctionDef, ast.AsyncFunctionDef)
_BLANK_BASES = frozenset({"object", "ABC", "abc.ABC", "NamedTuple", "typing.NamedTuple"})


class DeadCode:
    """What the old tree has, the new one lacks, and no comparison has looked into."""

    def __init__(self, change: TreeChange, claims: Claims, names: tuple[Names, Names], kernel: Kernel) -> None:
        self.change, self.claims, self.names, self.kernel = change, claims, names, kernel

    def run(self) -> None:
        """Marks the lines of what is dead."""
        for definition, node in self._candidates():
            if not self._is_wanted(definition):
                last = node.end_lineno or node.lineno
                self.kernel.lines.append(Line(OLD, definition[0], node.lineno, last, "dead code"))

    def words(self) -> set[str]:
        """What will be looked for."""
        return {_leaf(each) for each, _ in self._candidates()}

    def _candidates(self) -> Iterator[tuple[Definition, ast.stmt]]:
        old, new = self.names
        for path in sorted(self.claims.changed):
            if path not in self.change.old or path not in self.change.new:
                continue
            for name, node in old.definitions(path).items():
                definition = (path, name)
                owner, _, leaf = name.rpartition(".")
                is_gone = definition not in self.claims.pairs and not new.has(definition)
                if not is_gone or not isinstance(node, (*_FUNCTIONS, ast.ClassDef)):
                    continue
                is_private = leaf.startswith("_") and not leaf.startswith("__")
                is_plain = is_private and not node.decorator_list and is_inert(node) and not getattr(node, "bases", ())
                if not is_plain or self.kernel.canon[OLD].is_reached(definition) or leaf in new.table(path):
                    continue
                if not owner or (new.has((path, owner)) and self._is_closed(path, owner)):
                    yield definition, node

    def _is_closed(self, path: str, owner: str) -> bool:
        """Whether nobody outside the tree can call a method of the class by its name."""
        node = self.names[NEW].definitions(path)[owner]
        if not isinstance(node, ast.ClassDef) or node.keywords or node.decorator_list:
            return False
        for base in node.bases:
            text = ast.unparse(base)
            if text in _BLANK_BASES:
                continue
            ref = self.names[NEW].followed(path, text.split(".")) if text.replace(".", "").isidentifier() else None
            if ref is None or ref[0] != "top" or ref[1:] == (path, owner) or not self.names[NEW].has((ref[1], ref[2])):
                return False
            if not self._is_closed(ref[1], ref[2]):
                return False
        return True

    def _is_wanted(self, definition: Definition) -> bool:
        path, name = definition
        owner, _, leaf = name.rpartition(".")
        everywhere = (*PYTHON_SUFFIXES, *DOCUMENT_SUFFIXES)
        for each in mentioning(self.change.new, leaf, suffixes=everywhere):
            if not each.endswith(".py") or self._mentions(each, leaf, is_member=bool(owner)):
                return True
        near = {path, *(mentioning(self.change.new, owner.rpartition(".")[2]) if owner else ())}
        return any(
            leaf.startswith(start) and leaf.endswith(rest)
            for each in near
            for start, rest, _ in computed_texts(self._raw(each))
        )

    def _mentions(self, path: str, leaf: str, *, is_member: bool) -> bool:
        """Whether a file may mean the definition: a variable of the name is not a member of an object."""
        try:
            tree = self.names[NEW].tree(path)
        except Unreadable:
            return True
        for node in below(tree):
            if isinstance(node, ast.Attribute) and node.attr == leaf:
                return True
            if isinstance(node, ast.Constant) and isinstance(node.value, (str, bytes)):
                text = node.value if isinstance(node.value, str) else node.value.decode(errors="replace")
                if leaf in text:
                    return True
            if isinstance(node, (*_FUNCTIONS, ast.ClassDef)) and node.name == leaf:
                return True
            if not is_member and isinstance(node, ast.Name) and node.id == leaf:
                return True
            if isinstance(node, ast.alias) and leaf in (node.name, node.asname):
                return True
        return False

    def _raw(self, path: str) -> bytes:
        try:
            return self.change.new.read(path)
        except (SourceError, KeyError):
            return b""


def _leaf(definition: Definition) -> str:
    return definition[1].rpartition(".")[2]
