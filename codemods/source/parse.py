"""One parsed Python file: tree, parents, spans. Parsing is `ast`'s; positions inside f-strings are made true on every
supported Python. Reads only; a file that does not parse is an error that names the place."""

from __future__ import annotations

import ast
import gc
import sys
import warnings
from collections import OrderedDict
from collections.abc import Iterator

from codemods.schema.errors import SourceError
from codemods.source.files import FileSet
from codemods.source.fstrings import outermost_in, reposition
from codemods.source.nodes import children
from codemods.source.text import Text

Definition = ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef
Function = ast.FunctionDef | ast.AsyncFunctionDef
FUNCTIONS = (ast.FunctionDef, ast.AsyncFunctionDef)
DEFINITIONS = (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef)

TREES = "trees"  # a note of a file set: path -> text and tree, where somebody keeps them

_COLLECT_AFTER = 5_000_000  # bytes of text, whose trees and scopes take a few hundred megabytes
_KEEP_TREES = 4  # trees without positions, for questions that follow each other
_KEEP_BYTES = 2_500_000  # of text: more files are kept when they are small; a rename looks at all of its files again
_KEEP = 24  # parsed files kept at least; a syntax tree takes about 100 times its text, so the cache bounds the memory


class Unparsable(SourceError):
    """This interpreter can't parse the file."""

    code = "unparsable"


def parse_tree(path: str, body: bytes) -> ast.Module:
    """`ast.parse` with the cyclic collector off (twice as fast on large files) and errors that name the place."""
    was_enabled = gc.isenabled()
    gc.disable()
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # the file's own invalid escapes are not this run's news
            # The body is UTF-8 whatever the file declares; a declaration counts in bytes only, not in text.
            declares = b"coding" in b"".join(body.split(b"\n", 2)[:2])
            return ast.parse(body.decode("utf-8") if declares else body, filename=path)
    except (SyntaxError, ValueError, RecursionError, MemoryError) as error:
        line = getattr(error, "lineno", None) or 0
        version = f"{sys.version_info.major}.{sys.version_info.minor}"
        reason = error.msg if isinstance(error, SyntaxError) else str(error) or type(error).__name__
        raise Unparsable(
            f"Python {version} can't parse it: {reason}",
            path=path,
            line=line,
            fix="run unmoved under the Python that runs this code, mend the file, or exclude it in [tool.unmoved]",
        ) from error
    finally:
        if was_enabled:
            gc.enable()


class Source:
    """A file's text and tree. Offsets count bytes of `text.body`."""

    def __init__(self, path: str, raw: bytes, *, tree: ast.Module | None = None) -> None:
        self.path = path
        self.text = Text(path, raw)
        self.tree = tree if tree is not None else parse_tree(path, self.text.body)
        self.notes: dict[str, object] = {}  # facts computed from this very text; they live as long as the tree
        self._parents: dict[ast.AST, ast.AST] | None = None
        if sys.version_info < (3, 12):
            for node in outermost_in(self.text, self.tree):
                if not getattr(node, "is_in_place", False):  # the tree may be one that was looked at before
                    reposition(self.text, node)
                    node.is_in_place = True  # type: ignore[attr-defined]

    @property
    def body(self) -> bytes:
        return self.text.body

    @property
    def parents(self) -> dict[ast.AST, ast.AST]:
        if self._parents is None:
            found: dict[ast.AST, ast.AST] = {}
            stack: list[ast.AST] = [self.tree]
            while stack:
                node = stack.pop()
                for child in children(node):
                    found[child] = node
                    stack.append(child)
            self._parents = found
        return self._parents

    def start(self, node: ast.AST) -> int:
        """Offset of the node's first byte; of a decorated definition the first byte of `def`, `async` or `class`."""
        return self.text.line_starts[node.lineno - 1] + node.col_offset  # type: ignore[attr-defined, no-any-return]

    def end(self, node: ast.AST) -> int:
        return self.text.line_starts[node.end_lineno - 1] + node.end_col_offset  # type: ignore[attr-defined, no-any-return]

    def segment(self, node: ast.AST) -> bytes:
        return self.body[self.start(node) : self.end(node)]

    def line(self, node: ast.AST) -> int:
        return int(node.lineno)  # type: ignore[attr-defined]

    def ancestors(self, node: ast.AST) -> Iterator[ast.AST]:
        """Parent, grandparent, … up to the module."""
        at: ast.AST | None = self.parents.get(node)
        while at is not None:
            yield at
            at = self.parents.get(at)

    def enclosing(self, node: ast.AST, *kinds: type[ast.AST]) -> ast.AST | None:
        """The nearest ancestor of one of the kinds."""
        return next((above for above in self.ancestors(node) if isinstance(above, kinds)), None)

    def statement_of(self, node: ast.AST) -> ast.stmt:
        """The innermost statement that contains `node` (or is it)."""
        at: ast.AST = node
        while not isinstance(at, ast.stmt):
            at = self.parents[at]
        return at


_cache: OrderedDict[tuple[str, bytes], Source] = OrderedDict()
_trees: OrderedDict[tuple[str, bytes], tuple[Text, ast.Module]] = OrderedDict()
_litter: list[int] = []  # bytes of text of each file that was forgotten since the last collection


def loaded(files: FileSet, path: str) -> Source | None:
    """The parsed file when it is in the cache already; never parses."""
    return _cache.get((path, files.read(path)))


def load(files: FileSet, path: str) -> Source:
    """The parsed file, from a small cache keyed by path and content. Raises Unparsable, NotText."""
    raw = files.read(path)
    key = (path, raw)
    found = _cache.get(key)
    if found is None:
        _, tree = _trees.pop(key, (None, None))
        found = _cache[key] = Source(path, raw, tree=tree)
        while len(_cache) > _KEEP and sum(len(each) for _, each in _cache) > _KEEP_BYTES:
            forget(_cache.popitem(last=False)[1])
    else:
        _cache.move_to_end(key)
    return found


def light_tree(files: FileSet, path: str) -> tuple[Text, ast.Module]:
    """The text and the tree as `ast` gives it (before 3.12, positions in f-strings are wrong). Not to be changed."""
    raw = files.read(path)
    kept = loaded(files, path)
    if kept is not None:
        return kept.text, kept.tree
    noted = files.notes.get(TREES)
    if isinstance(noted, dict) and path in noted:
        found: tuple[Text, ast.Module] = noted[path]
        return found
    key = (path, raw)
    if key not in _trees:
        text = Text(path, raw)
        _trees[key] = (text, parse_tree(path, text.body))
        while len(_trees) > _KEEP_TREES:
            _trees.popitem(last=False)
    else:
        _trees.move_to_end(key)
    return _trees[key]


def forget_all() -> None:
    """Lets go of everything that is kept here, as before other trees are looked at."""
    _cache.clear()
    _trees.clear()
    _litter.clear()


def forget(source: Source) -> None:
    """A cache has let go of a file. Its scopes refer to each other, so that only the cyclic collector frees them;
    where it does not run by itself (cli/session.py) it runs here, after every few megabytes of text."""
    _litter.append(len(source.body))
    if sum(_litter) > _COLLECT_AFTER:
        _litter.clear()
        if not gc.isenabled():
            gc.collect()
