"""Who is outside of the tree, or is no Python: what moved and is used by nobody here is there for somebody elsewhere,
who knows it by its old place; and data files name functions by their paths."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator

from codemods.schema.errors import SourceError
from codemods.schema.verdict import Problem
from codemods.source.index import mentioning
from codemods.source.nodes import below
from codemods.verify.change import TreeChange
from codemods.verify.frames import Claims
from codemods.verify.names import Definition, Names
from codemods.verify.readers_family import is_test_path

_LARGEST = 1_000_000  # bytes of a data file that may name functions
_DEFINED = (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef)


class Outside:
    """Asks about definitions and modules that are elsewhere now, or have other names."""

    def __init__(self, change: TreeChange, claims: Claims, old: Names, new: Names) -> None:
        self.change, self.claims, self.names = change, claims, (old, new)
        top = [(a, b) for a, b in claims.pairs.items() if "." not in a[1] and "." not in b[1]]
        self._moved = [(a, b) for a, b in top if a[0] != b[0] and self._is_public(b)]
        self._renamed = [(a, b) for a, b in top if a[1] != b[1]]
        leaves = {(_leaf(a[1]), _leaf(b[1])) for a, b in claims.pairs.items()} | {
            (old, new) for new, old in claims.attributes.items()
        }
        self._lost = sorted({old for old, new in leaves if old != new and "_" in old.strip("_")})

    def _is_public(self, definition: Definition) -> bool:
        node = self.names[1].definitions(definition[0]).get(definition[1])
        is_offered = isinstance(node, _DEFINED) and not definition[1].startswith("_") and not node.decorator_list
        return is_offered and not is_test_path(definition[0])

    def words(self) -> set[str]:
        """What will be looked for."""
        found = {b[1] for _, b in self._moved}
        found |= {_stem(path) for path in self.claims.modules.values()}
        found |= {"import_module"} if self._renamed or self._moved else set()
        return found | ({"getattr"} if self._lost else set())

    def problems(self) -> Iterator[Problem]:
        """Everything that is found."""
        for before, after in self._moved:
            if self._is_handed_on(before) and not self._is_used(after):
                home = self.names[0].modules.module_of(before[0])
                what = f"nobody in the tree uses {after[1]}: who does is outside, and knows it as {home}.{before[1]}"
                yield Problem(after[0], self.names[1].definitions(after[0])[after[1]].lineno, "U110", what)
        for old, new in self.claims.modules.items():
            users = {each for each in mentioning(self.change.new, _stem(new)) if each != new}
            if not users and not is_test_path(new):
                home = self.names[0].modules.module_of(old)
                yield Problem(
                    new, 1, "U110", f"nobody in the tree imports it: who does is outside, and knows it as {home}"
                )
        yield from self._in_data()
        yield from self._put_together()

    def _is_handed_on(self, before: Definition) -> bool:
        """Whether the old module still has the name, by an import."""
        bound = self.names[1].table(before[0]).get(before[1], ()) if before[0] in self.names[1].files else ()
        return any(isinstance(each, ast.ImportFrom) for each in bound)

    def _is_used(self, after: Definition) -> bool:
        """Whether anybody uses it: more than to hand its name on."""
        return any(self._uses(path, after[1]) for path in {after[0], *mentioning(self.change.new, after[1])})

    def _uses(self, path: str, name: str) -> bool:
        try:
            tree = ast.parse(self.change.new.read(path))
        except (SourceError, KeyError, SyntaxError, ValueError, RecursionError, MemoryError):
            return False
        for node in below(tree):
            if isinstance(node, (ast.Name, ast.Attribute)) and getattr(node, "id", getattr(node, "attr", "")) == name:
                return True
            if isinstance(node, ast.Constant) and isinstance(node.value, str) and re.search(rf"\b{name}\b", node.value):
                return True
            is_renaming = isinstance(node, ast.alias) and node.name == name and node.asname not in (None, name)
            if is_renaming:
                return True
        return False

    def _put_together(self) -> Iterator[Problem]:
        """An attribute or a method got another name, and somebody makes up names that begin or end like the old one."""
        if not self._lost:
            return
        pattern = re.compile(b"|".join(map(_pieces, self._lost)))
        for path in mentioning(self.change.new, "getattr"):
            raw = self.change.new.read(path)
            for line, text in enumerate(raw.split(b"\n"), start=1) if pattern.search(raw) else ():
                if b"getattr(" in text and pattern.search(text):
                    yield Problem(path, line, "U119", f"puts a name together that may have been one of {self._lost}")
                    return

    def _in_data(self) -> Iterator[Problem]:
        """`module:function` in a data file, where something imports by name."""
        gone = [(self.names[0].modules.module_of(a[0]), a[1]) for a, _ in [*self._moved, *self._renamed]]
        if not gone or not mentioning(self.change.new, "import_module"):
            return
        words = b"|".join(
            re.escape(f"{module}".encode()) + rb"[.:]" + name.encode() for module, name in sorted(set(gone))
        )
        old = re.compile(rb"(?<![\w.])(?:" + words + rb")(?!\w)")
        for path in sorted(each for each in self.change.new.paths() if each.endswith(".json")):
            try:
                raw = self.change.new.read(path)
            except SourceError:  # too large to be code
                continue
            found = old.search(raw) if len(raw) < _LARGEST else None
            if found is not None:
                line = raw.count(b"\n", 0, found.start()) + 1
                yield Problem(path, line, "U119", f"still names {found[0].decode()}, which is gone")


def _leaf(qualname: str) -> str:
    return qualname.rpartition(".")[2]


def _pieces(name: str) -> bytes:
    """A pattern for the beginnings and ends of a name, as they stand where somebody puts it together."""
    cuts = [at + 1 for at, letter in enumerate(name) if letter == "_" and 0 < at < len(name) - 1]
    heads = b"|".join(name[:cut].encode() for cut in cuts)
    tails = b"|".join(name[cut - 1 :].encode() for cut in cuts)
    return rb"[\"'](?:%b)(?:[\"'][ \t]*\+|\{|%%s)|(?:\+[ \t]*[\"']|\}|%%s)(?:%b)[\"']" % (heads, tails)


def _stem(path: str) -> str:
    return path.removesuffix("/__init__.py").removesuffix(".py").rpartition("/")[2]
