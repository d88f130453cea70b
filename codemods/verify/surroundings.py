"""What a change means beyond the code it touches: names and texts that the rest of the tree shows, stores or looks up.

Each question is asked only when the change gives cause, and all words it needs are looked for in one search. Says
something only where the tree has the means to notice: a pickle beside the class, a listing of the folder, a path."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from posixpath import basename, dirname

from codemods.schema.errors import SourceError
from codemods.schema.verdict import Problem
from codemods.source.files import FileSet
from codemods.source.import_effects import is_inert_call
from codemods.source.index import DOCUMENT_SUFFIXES, mentioning
from codemods.source.nodes import below
from codemods.verify.change import TreeChange
from codemods.verify.frames import Claims
from codemods.verify.names import Definition, Names

_STORES = ("pickle", "cloudpickle", "dill", "shelve", "joblib")
_SHOWS = ("__module__", "__qualname__", "__reduce__")
_IMPORTERS = ("import_module", "__import__")
_LISTS = re.compile(
    rb"\b(?:iter_modules|walk_packages)\b[^\n]*__path__"
    rb"|\b(?:listdir|scandir|iterdir|r?glob|iglob)\([^\n]*(?:__file__|__path__|\.py|HERE|here|package)"
    rb"|__(?:file|path)__[^\n]*\b(?:listdir|scandir|iterdir|r?glob|iglob|iter_modules)\("
)
_SHOWN_NAME = re.compile(rb"(?<!\w)(?:type\(\w+\)|__class__|\w+)\.__(?:qual)?name__|\brepr\(|!r\}")
_SHOWN_FIELDS = (
    rb"\b(?:asdict|astuple|_asdict|_fields|__dict__|vars|fields|repr|str|print|format|encode|dumps|to_builtins)\("
    rb"|\b(?:_fields|__dict__)\b|\{\w+(?:![rs])?\}|%[rs]"
)
_TEXTS = tuple(suffix for suffix in DOCUMENT_SUFFIXES if suffix not in (".md", ".rst"))
_DEFINED = (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef)


class Surroundings:
    """The rest of the tree, as far as a change gives cause to look at it."""

    def __init__(self, change: TreeChange, claims: Claims, old: Names, new: Names) -> None:
        self.change, self.claims, self.names = change, claims, (old, new)
        self._moved = [(a, b) for a, b in claims.pairs.items() if a[0] != b[0] and "." not in b[1]]
        self._renamed = [
            (a, b)
            for a, b in claims.pairs.items()
            if _leaf(a) != _leaf(b) and isinstance(new.definitions(b[0])[b[1]], ast.ClassDef)
        ]
        self._texts = list(self._other_texts())
        self._fields = list(self._renamed_fields())

    def words(self) -> set[str]:
        """What will be looked for."""
        found: set[str] = set()
        for before, after in self._moved:
            found.add(_leaf(before))
            if self._is_class(after):
                found |= {*_STORES, *_SHOWS}
        if self._renamed:
            found |= {"__name__", "__qualname__", *(_leaf(each) for pair in self._renamed for each in pair)}
        found |= {each[1] for each in self._fields}
        for path, name in self.claims.unpaired:
            found |= {name.rpartition(".")[2], self._home(path, name)}
        if self.claims.modules:
            found |= {*_IMPORTERS, *(_stem(path) for path in self.claims.modules)}
        if any(_leaf(each) for each, _ in self._texts):
            found |= {"__doc__", "getdoc"}
        return found

    def problems(self) -> Iterator[Problem]:
        """Everything that is found."""
        yield from self._stored()
        yield from self._shown()
        yield from self._shown_fields()
        yield from self._swapped()
        yield from self._paths()
        yield from self._computed_imports()
        yield from self._listed()
        yield from self._documents()
        yield from self._docstrings()

    # ---- classes

    def _is_class(self, definition: Definition) -> bool:
        return isinstance(self.names[1].definitions(definition[0])[definition[1]], ast.ClassDef)

    def _stored(self) -> Iterator[Problem]:
        """A class that moved is stored, or shows where it lives."""
        for before, after in self._moved:
            if not self._is_class(after):
                continue
            name = _leaf(after)
            users = set(mentioning(self.change.new, name))
            for word in (*_STORES, *_SHOWS):
                for path in sorted(users & set(mentioning(self.change.new, word))):
                    if word in _STORES and not re.search(rb"\b(?:dumps?|Pickler|open)\b", self._read(path)):
                        continue
                    where = self.names[0].modules.module_of(before[0])
                    line = self._line(path, word)
                    yield Problem(
                        path, line, "U110", f"`{word}` here may know {name} as a class of {where}, its old home"
                    )
                    break

    def _shown(self) -> Iterator[Problem]:
        """A class has another name, and somebody shows or compares names of classes."""
        for before, after in self._renamed:
            node = self.names[1].definitions(after[0])[after[1]]
            users = set(mentioning(self.change.new, _leaf(after)))
            is_raised = isinstance(node, ast.ClassDef) and any(
                ast.unparse(each).endswith(("Exception", "Error", "Warning")) for each in node.bases
            )
            for path in mentioning(self.change.new, "__name__"):
                if path not in users and not is_raised:
                    continue
                found = _SHOWN_NAME.search(self._read(path))
                if found is not None:
                    line = self._read(path).count(b"\n", 0, found.start()) + 1
                    yield Problem(path, line, "U110", f"shows names of classes; {_leaf(before)} is {_leaf(after)} now")
                    break

    def _renamed_fields(self) -> Iterator[tuple[str, str, str]]:
        """(path, class, old name) of every field in the body of a class that has another name now."""
        old, new = self.names
        for path in sorted(self.claims.changed) if self.claims.attributes else ():
            for name, node in new.definitions(path).items() if path in new.files else ():
                was = old.definitions(path).get(name) if path in old.files else None
                if isinstance(node, ast.ClassDef) and isinstance(was, ast.ClassDef):
                    before = {ast.unparse(each.target) for each in was.body if isinstance(each, ast.AnnAssign)}
                    after = {ast.unparse(each.target) for each in node.body if isinstance(each, ast.AnnAssign)}
                    for now, field in self.claims.attributes.items():
                        if field in before - after and now in after:
                            yield path, name.rpartition(".")[2], field

    def _shown_fields(self) -> Iterator[Problem]:
        """The name of a field is part of what a data class prints, lists and matches."""
        for home, owner, field in self._fields:
            pattern = re.compile(
                _SHOWN_FIELDS + rb"|\bcase\b[^\n]*\b" + owner.encode() + rb"\([^\n]*\b" + field.encode() + rb"\s*="
            )
            for path in sorted({home, *mentioning(self.change.new, owner)}):
                found = pattern.search(self._read(path))
                if found is not None:
                    line = self._read(path).count(b"\n", 0, found.start()) + 1
                    yield Problem(path, line, "U111", f"may show or match the field `{field}` of {owner} by its name")

    def _home(self, path: str, name: str) -> str:
        """The class or the module that a definition is reached through."""
        return name.rpartition(".")[0].rpartition(".")[2] or self.names[0].modules.module_of(path).rpartition(".")[2]

    def _swapped(self) -> Iterator[Problem]:
        """Another definition stands under an old name: files that did not change get the other one."""
        for path, name in sorted(self.claims.unpaired):
            leaf = name.rpartition(".")[2]
            for each in mentioning(self.change.new, leaf, self._home(path, name)):
                if each not in self.claims.changed:
                    yield Problem(each, self._line(each, leaf), "U119", f"`{leaf}` of {path} is another one now")

    # ---- paths

    def _paths(self) -> Iterator[Problem]:
        """The old place in a file that is not Python: an entry point, a hook, a setting."""
        modules = self.names[0].modules
        gone = [(modules.module_of(a[0]), _leaf(a)) for a, _ in self._moved]
        gone += [(modules.module_of(path), "") for path in self.claims.modules]
        for module, name in gone:
            word = name or module.rpartition(".")[2]
            old = re.compile(
                rb"(?<![\w.])" + re.escape(module.encode()) + (rb"[.:]" + name.encode() if name else b"") + rb"(?!\w)"
            )
            for path in mentioning(self.change.new, word, suffixes=_TEXTS):
                raw = self._read(path)
                found = old.search(raw)
                if found is not None:
                    line = raw.count(b"\n", 0, found.start()) + 1
                    yield Problem(path, line, "U119", f"still names {module}{name and ':' + name}, which is gone")

    def _computed_imports(self) -> Iterator[Problem]:
        """A module is imported by a name that is put together."""
        for path in self.claims.modules:
            dotted = self.names[0].modules.module_of(path)
            users = {each for word in _IMPORTERS for each in mentioning(self.change.new, word)}
            for each in sorted(users):
                for text, rest, line in computed_texts(self._read(each)):
                    start = text.lstrip(".")
                    whole = dotted if start == text else dotted.rpartition(".")[2]
                    near = start == text or dirname(each) == dirname(path)
                    if near and text and whole.startswith(start) and whole.endswith(rest) and whole != start:
                        yield Problem(each, line, "U119", f"imports `{text}...{rest}`, which may have been {dotted}")

    def _listed(self) -> Iterator[Problem]:
        """A module came into a folder, or left one, whose files somebody lists."""
        for file in self.change.changes:
            if not file.path.endswith(".py") or (file.before is not None and file.after is not None):
                continue
            if basename(file.path) == "__init__.py":
                continue
            for lister in self._listers(dirname(file.path)):
                what = "came" if file.before is None else "went"
                yield Problem(lister[0], lister[1], "U111", f"lists the folder of {file.path}, which {what}")

    def _listers(self, folder: str) -> Iterator[tuple[str, int]]:
        for path in self._beside(folder):
            raw = self._read(path)
            found = _LISTS.search(raw)
            if found is not None:
                yield path, raw.count(b"\n", 0, found.start()) + 1

    def _beside(self, folder: str) -> list[str]:
        """The Python files of one folder and the `__init__.py` above it."""
        head = f"{folder}/" if folder else ""
        above = f"{dirname(folder)}/__init__.py" if folder else ""
        return [
            path
            for path in self.change.new.paths()
            if path.endswith(".py") and path.startswith(head) and ("/" not in path[len(head) :] or path == above)
        ]

    # ---- texts

    def _documents(self) -> Iterator[Problem]:
        """A document inside a package is read by the package's code."""
        for file in self.change.changes:
            if not file.path.endswith((".md", ".rst")):
                continue
            package = dirname(file.path)
            while package and f"{package}/__init__.py" not in self.change.new:
                package = dirname(package)
            if not package:
                continue
            name, suffix = basename(file.path).encode(), b"." + file.path.rpartition(".")[2].encode()
            used = re.compile(rb"[\"'/]" + re.escape(name) + rb"[\"']|[\"'}*]" + re.escape(suffix) + rb"[\"']")
            for path in self.change.new.paths():
                if path.endswith(".py") and path.startswith(f"{package}/"):
                    found = used.search(self._read(path))
                    if found is not None:
                        line = self._read(path).count(b"\n", 0, found.start()) + 1
                        yield Problem(file.path, 1, "U111", f"{path}:{line} reads this document, and it changed")
                        break

    def _other_texts(self) -> Iterator[tuple[Definition, Definition]]:
        """Modules, classes and functions whose docstring is another one now; ("path", "") for a module."""
        old, new = self.names
        back = {after: before for before, after in self.claims.pairs.items()}
        homes = {after: before for before, after in self.claims.modules.items()}
        for path in sorted(self.claims.changed):
            if path not in new.files:
                continue
            home = homes.get(path, path)
            if home in old.files and _doc(old.tree(home)) != _doc(new.tree(path)):
                yield (home, ""), (path, "")
            for name, node in new.definitions(path).items():
                before = back.get((path, name), (home, name))
                if isinstance(node, _DEFINED) and old.has(before):
                    was = old.definitions(before[0])[before[1]]
                    if isinstance(was, _DEFINED) and _doc(was) != _doc(node):
                        yield before, (path, name)

    def _docstrings(self) -> Iterator[Problem]:
        for before, after in self._texts:
            name = after[1].rpartition(".")[2]
            node = self.names[1].definitions(after[0])[after[1]] if name else self.names[1].tree(after[0])
            line = getattr(node, "lineno", 1)
            reader = self._reader(after[0], name)
            if isinstance(node, _DEFINED) and not reader:
                reader = next((f"@{ast.unparse(each)}" for each in node.decorator_list if _may_read(each)), "")
            if reader:
                what = f"the docstring of {name or before[0]}"
                yield Problem(after[0], line, "U111", f"{what} changed, and {reader} may read it")

    def _reader(self, path: str, name: str) -> str:
        if re.search(rb"\b__doc__\b|\bgetdoc\b", self._read(path)):
            return path
        if not name:
            return ""
        users = set(mentioning(self.change.new, name))
        for word in ("__doc__", "getdoc"):
            for each in sorted(users & set(mentioning(self.change.new, word))):
                return each
        return ""

    # ---- small

    def _read(self, path: str) -> bytes:
        return _raw(self.change.new, path)

    def _line(self, path: str, word: str) -> int:
        raw = self._read(path)
        return raw.count(b"\n", 0, max(raw.find(word.encode()), 0)) + 1


def _raw(files: FileSet, path: str) -> bytes:
    try:
        return files.read(path)
    except (SourceError, KeyError):  # too large to be code
        return b""


def _leaf(definition: Definition) -> str:
    return definition[1].rpartition(".")[2]


def _stem(path: str) -> str:
    return basename(path).rpartition(".")[0]


def _doc(node: ast.AST) -> str | None:
    return ast.get_docstring(node, clean=False)  # type: ignore[arg-type]


def _may_read(node: ast.expr) -> bool:
    """Whether a decorator may be one of those that make a command or an interface of a docstring."""
    return not is_inert_call(node)


def computed_texts(raw: bytes) -> Iterator[tuple[str, str, int]]:
    """Texts that are put together, as their beginning, their end and the line."""
    try:
        tree = ast.parse(raw)
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return
    for node in below(tree):
        parts: list[ast.expr] = []
        if isinstance(node, ast.JoinedStr):
            parts = node.values
        elif isinstance(node, ast.BinOp) and isinstance(node.op, (ast.Add, ast.Mod)):
            parts = [node.left, node.right]
        if not parts or not isinstance(node, ast.expr):
            continue
        first, last = (each.value if isinstance(each, ast.Constant) else "" for each in (parts[0], parts[-1]))
        if isinstance(first, str) and first:
            end = last if isinstance(last, str) and len(parts) > 1 else ""
            yield first.partition("%")[0], end, node.lineno
