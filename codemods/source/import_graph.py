"""Would a module-level import close a cycle? Follows what importing a module runs, over as few files as it takes.

Edges are found by a scan of the text (fast, errs towards more edges); a path that is found is then checked edge by edge
against the syntax tree, so a reported cycle is there. Imports under TYPE_CHECKING and in functions do not count."""

from __future__ import annotations

import codecs
import re
from collections import deque
from itertools import pairwise
from weakref import WeakKeyDictionary

from codemods.source.files import FileSet, Tree
from codemods.source.imports import imports_of
from codemods.source.modules import Modules, modules_of
from codemods.source.parse import load

# A statement at column 0 up to the next one; a string or bracket that goes on at column 0 only splits a chunk in two.
_TOP = re.compile(rb"^(?![\s#)\]}\"'])[^\r\n]*(?:[\r\n]+(?=[\s#)\]}\"'])[^\r\n]*)*", re.MULTILINE)
_FROM = re.compile(
    rb"(?:^|[;:])[ \t]*from[ \t]+([.\w]+)[ \t]+import[ \t]*(\([^)]*\)|[^\r\n#]*(?:\\\r?\n[^\r\n#]*)*)", re.MULTILINE
)
_IMPORT = re.compile(rb"(?:^|[;:])[ \t]*import[ \t]+([^\r\n#;]+)", re.MULTILINE)
_BLOCKS = (b"if", b"try", b"else", b"elif", b"except", b"finally", b"with", b"for", b"while")
_WORD = re.compile(rb"\w+")
_DEF = re.compile(
    rb"^([ \t]+)(?:async[ \t]+def|def)\b[^\r\n]*(?:[\r\n]+(?:\1[ \t]+[^\r\n]*|[ \t]*(?=[\r\n])))*", re.MULTILINE
)

Edge = tuple[str, str]  # (module, attribute or "")

_edges: WeakKeyDictionary[Tree, dict[str, tuple[Edge, ...]]] = WeakKeyDictionary()
_Targets = dict[str, tuple[tuple[str, ...], tuple[str, ...]]]
# By the texts and by the names of modules: trees with the same files share those, and import something else.
_targets: WeakKeyDictionary[Tree, WeakKeyDictionary[Modules, _Targets]] = WeakKeyDictionary()


def cycle(files: FileSet, importer: str, imported: str) -> list[str]:
    """Paths of the files that lead from `imported` (a path) back to `importer` when it is imported; [] when none do."""
    banned: set[tuple[str, str]] = set()
    while True:
        found = _search(files, importer, imported, banned)
        false_edges = [pair for pair in pairwise(found) if not _is_real(files, *pair)]
        if not false_edges:
            return found
        banned.update(false_edges)


def _search(files: FileSet, importer: str, imported: str, banned: set[tuple[str, str]]) -> list[str]:
    modules = modules_of(files)
    loaded = set(_parents(modules, importer))
    came_from: dict[str, str] = {imported: ""}
    queue = deque([imported])
    while queue:
        path = queue.popleft()
        if path == importer:
            trail = [path]
            while came_from[trail[-1]]:
                trail.append(came_from[trail[-1]])
            return trail[::-1]
        for successor in _successors(files, modules, path, loaded):
            if successor not in came_from and (path, successor) not in banned:
                came_from[successor] = path
                queue.append(successor)
    return []


def _successors(files: FileSet, modules: Modules, path: str, loaded: set[str]) -> list[str]:
    """What importing a file runs next. Importing a.b.c also runs a/__init__.py and a/b/__init__.py, unless they run
    already."""
    if path in files.overlay():
        explicit, parents = _resolved(files, modules, path)
    else:
        known = _targets.setdefault(files.base, WeakKeyDictionary()).setdefault(modules, {})
        if path not in known:
            known[path] = _resolved(files, modules, path)
        explicit, parents = known[path]
    return [*explicit, *(parent for parent in parents if parent not in loaded)]


def _resolved(files: FileSet, modules: Modules, path: str) -> tuple[tuple[str, ...], tuple[str, ...]]:
    found: list[str] = []
    parents: list[str] = []
    for module, attribute in edges_of(files, path):
        target = modules.path_of(module, near=path)
        if target is not None:
            found.append(target)
        if attribute:
            submodule = modules.path_of(f"{module}.{attribute}", near=path)
            if submodule is not None:
                found.append(submodule)
        parents.extend(_parents(modules, target or ""))
    explicit = tuple(each for each in dict.fromkeys(found) if each != path)
    return explicit, tuple(each for each in dict.fromkeys(parents) if each != path)


def _parents(modules: Modules, path: str) -> list[str]:
    if not path:
        return []
    module = modules.module_of(path)
    found = []
    while "." in module:
        module = module.rpartition(".")[0]
        home = modules.path_of(module)
        if home is not None:
            found.append(home)
    return found


def edges_of(files: FileSet, path: str) -> tuple[Edge, ...]:
    """What importing a file imports at module level, by a scan of its text."""
    if path in files.overlay():
        return _scan(modules_of(files), path, files.read(path))
    known = _edges.setdefault(files.base, {})
    if path not in known:
        known[path] = _scan(modules_of(files), path, files.read(path))
    return known[path]


def _scan(modules: Modules, path: str, raw: bytes) -> tuple[Edge, ...]:
    found: list[Edge] = []
    raw = raw.removeprefix(codecs.BOM_UTF8).replace(b"\x0c", b"")
    for match in _TOP.finditer(raw):
        chunk = match.group()
        word = _WORD.match(chunk)
        first = word.group() if word else b""
        if first in _BLOCKS:
            if b"TYPE_CHECKING" in chunk.split(b"\n", 1)[0]:
                continue
            chunk = _DEF.sub(b"", chunk)
        elif first not in (b"from", b"import"):
            continue
        for statement in _FROM.finditer(chunk):
            dotted = statement.group(1).decode()
            level = len(dotted) - len(dotted.lstrip("."))
            module = modules.absolute(path, level, dotted.lstrip(".") or None)
            names = re.findall(rb"(\w+)(?:\s+as\s+\w+)?\s*(?:,|\)|$|#[^\n]*)", statement.group(2)) or [b""]
            found.extend((module, name.decode()) for name in names)
        for plain in _IMPORT.finditer(chunk):
            for part in plain.group(1).split(b","):
                words = part.split()
                if words:
                    found.append((words[0].decode("utf-8", "replace"), ""))
    return tuple(dict.fromkeys(found))


def _is_real(files: FileSet, path: str, successor: str) -> bool:
    """Whether the tree of `path` really imports `successor` (or a module inside its package) when it is loaded."""
    modules = modules_of(files)
    for found in imports_of(files, load(files, path)):
        if not found.at_module_level or found.type_checking_only:
            continue
        names = [found.module, f"{found.module}.{found.attribute}" if found.attribute else found.module]
        for name in names:
            target = modules.path_of(name, near=path)
            if target == successor or successor in _parents(modules, target or ""):
                return True
    return False


def imported_files(files: FileSet, path: str) -> tuple[str, ...]:
    """What importing a file imports in turn, packages around those files included, by a scan of its text."""
    explicit, parents = _resolved(files, modules_of(files), path)
    return (*explicit, *parents)
