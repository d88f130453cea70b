"""Which modules come along when a file is loaded, and whether loading them does more than bind names.

Reads statements at the top of files. Of files that did not change only the imports at the left margin are looked at,
and of a large tree only the nearest ones: what is not found there counts as not loaded."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator, Mapping
from posixpath import dirname

from codemods.schema.errors import SourceError
from codemods.source.import_effects import is_inert
from codemods.source.nodes import children, walk
from codemods.verify.names import Names, Unreadable
from codemods.verify.scopes import statements

_MAKING = frozenset({"__init__", "__new__", "__del__", "__init_subclass__", "__set_name__"})
_MOST_FILES = 300
_MOST_A_QUESTION = 40
_IMPORT = re.compile(
    rb"^(?:from[ \t]+([.\w]+)[ \t]+import[ \t]*(\([^)]*\)|[^\n\\#]*)|import[ \t]+([^\n#]+))", re.MULTILINE
)
_HARMLESS_NAMES = """
    __future__ abc argparse ast asyncio base64 bisect collections concurrent contextlib copy csv ctypes dataclasses
    datetime decimal enum fractions functools gc glob hashlib heapq importlib inspect io itertools json logging math
    multiprocessing operator os pathlib pickle platform pprint queue random re shutil signal socket statistics string
    struct subprocess sys tempfile textwrap threading time traceback types typing unittest urllib uuid warnings weakref
    zlib typing_extensions
"""
_MAKERS = frozenset({"ctypes", "re", "typing", "collections", "enum", "dataclasses", "operator", "struct", "math"})
_HARMLESS = frozenset(_HARMLESS_NAMES.split())


def is_for_types(node: ast.AST) -> bool:
    """`if TYPE_CHECKING:` with nothing but imports in it."""
    return (
        isinstance(node, ast.If)
        and ast.unparse(node.test) in ("TYPE_CHECKING", "typing.TYPE_CHECKING")
        and all(isinstance(each, (ast.Import, ast.ImportFrom)) for each in node.body)
        and not node.orelse
    )


class Loading:
    """The modules of one tree that are loaded along with a file."""

    def __init__(
        self,
        names: Names,
        first: frozenset[str] = frozenset(),
        apart: frozenset[str] = frozenset(),
        kept: dict[str, tuple[str, ...]] | None = None,
    ) -> None:
        """first: files whose imports are looked at before others'. kept: what files load, shared with a tree with the
        same modules, for all files that are the same there; apart: those that may not be."""
        self.names, self._first, self._apart = names, first, apart
        self._kept = {} if kept is None else kept
        self._homes_of: dict[tuple[str, str], tuple[str, ...]] = {}
        self._next: dict[str, tuple[str, ...]] = {}
        self._loud: dict[str, tuple[str, ...]] = {}
        self._reached: dict[str, tuple[dict[str, None], list[str]]] = {}

    def reaches(self, path: str, target: str) -> bool:
        """Whether loading the file at `path` loads `target`."""
        seen, todo = self._reached.setdefault(path, ({path: None, **dict.fromkeys(self._packages(path))}, [path]))
        if len(seen) > 1 and todo == [path]:
            todo += [each for each in seen if each != path]
        limit = len(self._next) + _MOST_A_QUESTION
        parts = target.split("/")
        near = [(each in self._first, _shared(each, parts)) for each in todo] if target not in seen else []
        while target not in seen and todo and len(self._next) < min(limit, _MOST_FILES):
            at = near.index(max(near))
            nearest = todo.pop(at)
            near.pop(at)
            for each in self.next(nearest):
                if each not in seen:
                    seen[each] = None
                    todo.append(each)
                    near.append((each in self._first, _shared(each, parts)))
        return target in seen

    def closers(self, start: str, path: str) -> list[str]:
        """The files that loading `start` loads, itself included, and that import the file at `path`. The packages
        around that file are no way back to it: they have begun to load before it."""
        if not self.reaches(start, path):
            return []
        around = {path, *self._packages(path)}
        seen = dict.fromkeys([start])
        for each in (todo := [start] if start not in around else []):
            fresh = [other for other in self.next(each) if other not in seen and other not in around]
            seen.update(dict.fromkeys(fresh))
            todo += fresh[: max(0, _MOST_FILES - len(todo))]
        return [each for each in seen if each not in around and path in self._next.get(each, ())]

    def next(self, path: str) -> tuple[str, ...]:
        """The files that the imports at the left margin of a file load, packages around them included."""
        if path not in self._next:
            if path in self._apart:
                self._next[path] = tuple(dict.fromkeys(self._imported(path)))
            else:
                if path not in self._kept:
                    self._kept[path] = tuple(dict.fromkeys(self._imported(path)))
                self._next[path] = self._kept[path]
        return self._next[path]

    def files(self, path: str, node: ast.Import | ast.ImportFrom) -> list[str]:
        """The files of the tree that one import loads."""
        if isinstance(node, ast.Import):
            dotted = [alias.name for alias in node.names]
        else:
            module = self.names.modules.absolute(path, node.level, node.module)
            dotted = [module, *(f"{module}.{alias.name}" for alias in node.names)]
        return [each for name in dotted for each in self._files(name, path)]

    def effect(
        self, target: str, known: frozenset[str], near: str, other: Loading, moved: Mapping[str, str]
    ) -> str | None:
        """A module that does more than bind names and is loaded with `target`, where `other` does not load it along
        with `near`. known: files whose statements are compared in any case. moved: what files are called there."""
        todo = [target]
        for each in todo:
            if other.reaches(near, moved.get(each, each)) or each in known:
                continue
            if not self._is_inert(each) or len(todo) > _MOST_FILES:
                return each
            todo += [inner for inner in self.next(each) if inner not in todo]
        return None

    def loud(self, target: str) -> tuple[str, ...]:
        """The modules that do more than bind names and are loaded with `target`, in the order of loading."""
        if target not in self._loud:
            found: dict[str, None] = {}
            self._listen(target, set(), found)
            self._loud[target] = tuple(found)
        return self._loud[target]

    def _listen(self, path: str, seen: set[str], found: dict[str, None]) -> None:
        seen.add(path)
        for each in self.next(path):
            if each not in seen and len(seen) < _MOST_A_QUESTION:
                self._listen(each, seen, found)
        if not self._is_inert(path):
            found[path] = None

    def effects(self, target: str) -> bool:
        """Whether loading a module does more than bind names, as far as can be seen."""
        return self.effect(target, frozenset(), "", _NOTHING, {}) is not None

    def _is_inert(self, path: str) -> bool:
        try:
            return all(is_inert(node) or self._is_answer(path, node) for node in self.names.tree(path).body)
        except Unreadable:
            return False

    def _is_answer(self, path: str, node: ast.stmt) -> bool:
        """`name = question()`: the answer of a function of the tree that keeps nothing, or a value made by calls into
        modules that only make values; also in the body of a class."""
        if isinstance(node, ast.ClassDef):
            is_plain = not node.keywords and not node.decorator_list
            return is_plain and all(is_inert(each) or self._is_answer(path, each) for each in node.body)
        if not isinstance(node, ast.Assign) or not all(isinstance(each, ast.Name) for each in node.targets):
            return False
        calls = [each for each in walk(node.value) if isinstance(each, ast.Call)]
        return self.is_question(path, node.value) or all(
            (ast.unparse(each.func).partition(".")[0] in _MAKERS and isinstance(each.func, ast.Attribute))
            or self._makes_plain(path, each)
            for each in calls
        )

    def _makes_plain(self, path: str, call: ast.Call) -> bool:
        """Whether a call makes an object of a class of the same file that only stores what it is given."""
        name = call.func.id if isinstance(call.func, ast.Name) else ""
        node = self.names.definitions(path).get(name)
        if not isinstance(node, ast.ClassDef) or node.bases or node.keywords or node.decorator_list:
            return False
        special = [each for each in node.body if isinstance(each, ast.FunctionDef) and each.name in _MAKING]
        return all(
            isinstance(each, (ast.Assign, ast.AnnAssign, ast.Expr))
            and each.value is not None
            and not any(isinstance(inner, (ast.Call, ast.Await, ast.Subscript)) for inner in walk(each.value))
            for function in special
            for each in function.body
        )

    def is_question(self, path: str, node: ast.expr) -> bool:
        """Whether an expression calls a function of the tree that stores nothing anywhere and calls nothing for its
        effect. What that function calls in turn is not followed."""
        if isinstance(node, (ast.BoolOp, ast.UnaryOp, ast.Compare)):
            parts = [each for each in children(node) if isinstance(each, ast.expr)]
            return all(isinstance(each, ast.Constant) or self.is_question(path, each) for each in parts)
        if not isinstance(node, ast.Call) or not isinstance(node.func, ast.Name):
            return False
        given = [*node.args, *(each.value for each in node.keywords)]
        if not all(isinstance(each, ast.Constant) for each in given):
            return False
        for each in self._homes(path, node.func.id):
            start = rb"^def " + node.func.id.encode() + rb"\("
            found = re.search(start + rb".*?(?=^[^\s)])", self._raw(each) + b"\n#", re.MULTILINE | re.DOTALL)
            if found is not None:
                return _asks_only(found[0])
        return False

    def _homes(self, path: str, name: str) -> list[str]:
        """The files that may define a global name of a module: itself, and those it imports the name from."""
        found = [path]
        for node in self.names.tree(path).body:
            if isinstance(node, ast.ImportFrom) and any(name in (each.name, each.asname) for each in node.names):
                module = self.names.modules.absolute(path, node.level, node.module)
                home = self.names.modules.path_of(module, near=path)
                if home is not None:
                    inside = [each for each in self.next(home) if dirname(each).startswith(dirname(home))]
                    found += [home, *(inside if home.endswith("__init__.py") else ())]
        return found

    def _raw(self, path: str) -> bytes:
        try:
            return self.names.files.read(path)
        except (SourceError, KeyError):  # too large, or gone
            return b""

    def _imported(self, path: str) -> Iterator[str]:
        modules = self.names.modules
        for source, members, plain in _imports(self._raw(path)):
            if source:
                module = source.decode(errors="replace")
                dots = len(module) - len(module.lstrip("."))
                base = modules.absolute(path, dots, module[dots:] or None)
                found = re.findall(r"(\w+)(?:\s+as\s+\w+)?", re.sub(r"#[^\n]*", "", members.decode(errors="replace")))
                yield from self._files(base, path)
                for name in found:
                    yield from self._files(f"{base}.{name}", path)
            else:
                for part in plain.decode(errors="replace").split(","):
                    yield from self._files(part.split()[0] if part.split() else "", path)

    def _files(self, dotted: str, near: str) -> tuple[str, ...]:
        """The files that an import of a dotted name loads, those of the packages around it first."""
        key = (dotted, near.rpartition("/")[0])
        if key not in self._homes_of:
            outer = self._files(dotted.rpartition(".")[0], near) if "." in dotted else ()
            found = self.names.modules.path_of(dotted, near=near) if dotted else None
            is_there = found is not None and found.endswith(".py")
            self._homes_of[key] = (*outer, found) if is_there and found is not None else outer
        return self._homes_of[key]

    def _packages(self, path: str) -> Iterator[str]:
        at = dirname(path)
        while at:
            if f"{at}/__init__.py" in self.names.files:
                yield f"{at}/__init__.py"
            at = dirname(at)


def _imports(raw: bytes) -> Iterator[tuple[bytes, ...]]:
    """What `_IMPORT.findall` finds, in a tenth of the time: it is tried where a line starts with such a word, only."""
    starts, end = [0], 0
    for word in (b"\nfrom", b"\nimport"):
        at = raw.find(word)
        while at >= 0:
            starts.append(at + 1)
            at = raw.find(word, at + 1)
    for start in sorted(starts):
        match = _IMPORT.match(raw, start) if start >= end else None
        if match is not None:
            end = match.end()
            yield match.groups(b"")


class _Nothing(Loading):
    def __init__(self) -> None:
        pass

    def reaches(self, path: str, target: str) -> bool:
        del path, target
        return False


_NOTHING = _Nothing()


def is_harmless(dotted: str) -> bool:
    """Whether a module from outside the tree is known to do nothing when it is loaded."""
    return dotted.partition(".")[0] in _HARMLESS


def _asks_only(text: bytes) -> bool:
    try:
        tree = ast.parse(text)
    except (SyntaxError, ValueError):
        return False
    for node in statements(tree.body):
        if isinstance(node, (ast.Global, ast.Nonlocal, ast.Delete)):
            return False
        if isinstance(node, ast.Expr) and not isinstance(node.value, ast.Constant) and not _only_tells(node.value):
            return False
        targets = node.targets if isinstance(node, ast.Assign) else [getattr(node, "target", None)]
        if any(isinstance(each, (ast.Attribute, ast.Subscript)) for each in targets):
            return False
    return True


def _only_tells(node: ast.expr) -> bool:
    return isinstance(node, ast.Call) and ast.unparse(node.func).startswith(("logger.", "logging.", "warnings."))


def _shared(path: str, target: list[str]) -> int:
    """How many directories two files have in common, from the top. target: the parts of the other path."""
    count = 0
    for one, other in zip(path.split("/"), target, strict=False):
        if one != other:
            break
        count += 1
    return count
