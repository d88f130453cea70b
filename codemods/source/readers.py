"""Who reads a name through a module: imports of it, attributes of the module, patch strings, star imports.

One reading a file gives all the names it takes through one module, so asking for many names costs no more."""

from __future__ import annotations

import ast
import re
from collections import OrderedDict
from functools import lru_cache
from typing import NamedTuple

from codemods.source.files import FileSet
from codemods.source.index import has_word, mentioning
from codemods.source.module_facts import module_facts
from codemods.source.modules import Modules, modules_of
from codemods.source.nodes import walk
from codemods.source.parse import light_tree

_KEEP = 2048
_STAR = "*"
_taken: OrderedDict[tuple[str, str, bytes], dict[str, int]] = OrderedDict()


def reader_through(files: FileSet, path: str, name: str) -> str:
    """`path:line` of a file that reads `name` through the module at `path`; "" when none does.

    A star import counts for every public name. Raises Unparsable for a file that can't be read."""
    taken = _taken_through(files, path)
    found = taken.get(name) or ([] if name.startswith("_") else taken.get(_STAR, []))
    return found[0] if found else ""


def takes(files: FileSet, path: str, other: str, name: str) -> bool:
    """Whether the file `other` takes `name`, or everything, through the module at `path`."""
    taken = _names_taken(files, other, path)
    return name in taken or _STAR in taken


def lost_reader(files: FileSet, path: str, name: str, seen: frozenset[str] = frozenset()) -> str:
    """As `reader_through`, but a star import counts only when the name is then read there, or through there."""
    taken = _taken_through(files, path)
    if name in taken:
        return taken[name][0]
    for place in [] if name.startswith("_") else taken.get(_STAR, []):
        other = place.rpartition(":")[0]
        if other in seen:
            continue
        raw = files.read(other)
        if has_word(raw, name.encode()) and name not in module_facts(files, other).bound:
            return place
        further = lost_reader(files, other, name, seen | {path})
        if further:
            return further
    return ""


def _taken_through(files: FileSet, path: str) -> dict[str, list[str]]:
    """Every name that some file of the tree takes through the module, with the places."""
    kept = files.notes.setdefault("taken through", {})
    assert isinstance(kept, dict)
    if path not in kept:
        modules = modules_of(files)
        found: dict[str, list[str]] = {}
        for other in mentioning(files, modules.module_of(path).rpartition(".")[2]):
            if other != path:
                for name, line in _names_taken(files, other, path).items():
                    found.setdefault(name, []).append(f"{other}:{line}")
        kept[path] = found
    result: dict[str, list[str]] = kept[path]
    return result


def _names_taken(files: FileSet, other: str, path: str) -> dict[str, int]:
    """Names that `other` takes through the module at `path`, each with its first line."""
    modules, raw = modules_of(files), files.read(other)
    key = (other, path, raw)
    found = _taken.get(key)
    if found is None:
        patterns = _patterns(modules.module_of(path))
        if patterns.whole.search(raw) is None:
            found = _imported_by_text(modules, other, raw, path, patterns.names)
        else:
            found = _collect(modules, other, light_tree(files, other)[1], path)
        _taken[key] = found
        while len(_taken) > _KEEP:
            _taken.popitem(last=False)
    return found


class _Patterns(NamedTuple):
    """names: `from module import (…)`, with the module and the list as groups. whole: anything else that may reach the
    module: it is imported itself, or its dotted name stands in front of another name (in code or in a string)."""

    names: re.Pattern[bytes]
    whole: re.Pattern[bytes]


@lru_cache(maxsize=256)
def _patterns(module: str) -> _Patterns:
    package, _, name = module.rpartition(".")
    leaf = re.escape(name.encode())
    names = re.compile(rb"\bfrom[ \t]+([.\w]*\b" + leaf + rb")[ \t]+import[ \t]*(\([^)]*\)?|[^\n(]*)")
    listed = rb"\s+import\s+(?:\([^)]*|[^\n(]*)\b" + leaf + rb"\b"
    if not package:
        whole = rb"\bimport[^\n]*\b" + leaf + rb"\b|\b" + leaf + rb"\.\w|\bfrom\s+\.+" + listed
        return _Patterns(names, re.compile(whole))
    parent = re.escape(package.rpartition(".")[2].encode())
    dotted = rb"\b" + parent + rb"\." + leaf
    imported = rb"\bimport\s+[.\w]*" + dotted + rb"\b"
    return _Patterns(
        names,
        re.compile(
            rb"\b" + parent + listed + rb"|\bfrom\s+\.+" + listed + rb"|" + imported + rb"|" + dotted + rb"\.\w"
        ),
    )


def _imported_by_text(modules: Modules, other: str, raw: bytes, path: str, names: re.Pattern[bytes]) -> dict[str, int]:
    """Names in the lists of `from module import …`; what stands in comments and strings counts too."""
    found: dict[str, int] = {}
    for match in names.finditer(raw):
        dotted = match.group(1).decode("utf-8", "replace")
        level = len(dotted) - len(dotted.lstrip("."))
        module = modules.absolute(other, level, dotted.lstrip(".") or None)
        if modules.path_of(module, near=other) == path:
            line = raw.count(b"\n", 0, match.start()) + 1
            for word in re.findall(rb"\w+|\*", match.group(2)):
                found.setdefault(word.decode("utf-8", "replace"), line)
    return found


def _collect(modules: Modules, other: str, tree: ast.Module, path: str) -> dict[str, int]:
    found: dict[str, int] = {}
    holders: set[str] = set()
    nodes = list(walk(tree))
    for node in nodes:
        if isinstance(node, ast.ImportFrom):
            module = modules.absolute(other, node.level, node.module)
            target = modules.path_of(module, near=other)
            for alias in node.names:
                if target == path:
                    found.setdefault(alias.name, node.lineno)
                elif modules.path_of(f"{module}.{alias.name}", near=other) == path:
                    holders.add(alias.asname or alias.name)
        elif isinstance(node, ast.Import):
            for alias in node.names:
                if modules.path_of(alias.name, near=other) == path:
                    holders.add(alias.asname or alias.name)
    prefix = f"{modules.module_of(path)}."
    for node in nodes:
        for name in _read_through(node, holders, prefix):
            found.setdefault(name, node.lineno)  # type: ignore[attr-defined]
    return found


def _read_through(node: ast.AST, holders: set[str], prefix: str) -> list[str]:
    """Names that one expression reads from the module: `mod.name`, `"pkg.mod.name"`, `patch.object(mod, "name")`."""
    if isinstance(node, ast.Attribute) and holders:
        return [node.attr] if _dotted(node.value) in holders else []
    if isinstance(node, ast.Constant) and isinstance(node.value, str) and prefix in node.value:
        rest = node.value.split(prefix, 1)[1]
        return re.findall(r"\A\w+", rest)
    if isinstance(node, ast.Call) and len(node.args) > 1 and holders:
        first, second = node.args[0], node.args[1]
        is_named = isinstance(second, ast.Constant) and isinstance(second.value, str)
        if is_named and _dotted(first) in holders:
            return [str(second.value)]  # type: ignore[attr-defined]
    return []


def _dotted(node: ast.expr) -> str:
    parts: list[str] = []
    while isinstance(node, ast.Attribute):
        parts.append(node.attr)
        node = node.value
    return ".".join([node.id, *reversed(parts)]) if isinstance(node, ast.Name) else ""
