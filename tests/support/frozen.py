"""One function out of the text of a module, with what it needs of that module: a frozen original below golden/, which
is never imported, or what it has become. Names that a test gives stand in for the module's own; every other one is what
the module's text says it is. Lines keep their numbers, so that a trace tells where in the file it was."""

from __future__ import annotations
import __future__

import ast
from collections.abc import Callable, Iterable, Mapping
from pathlib import Path
from typing import Any

from msgspec import Struct

from tests.support.house import ROOT


class Text(Struct, frozen=True):
    """A module as it is read. file: where. module: its name."""

    file: str
    module: str
    text: str

    def edited(self, old: str, new: str) -> Text:
        """With one slip; `old` stands there exactly once."""
        assert self.text.count(old) == 1, f"{self.file} has {old!r} {self.text.count(old)} times"
        return Text(self.file, self.module, self.text.replace(old, new))


def frozen(plan: str, path: str) -> Text:
    """What a plan began with."""
    return _read(ROOT / "golden/originals" / plan, path)


def current(path: str) -> Text:
    """A module of the tree as it is."""
    return _read(ROOT, path)


def load(text: Text, qualname: str, names: Mapping[str, Any]) -> Callable[..., Any]:
    """A function or a method of the module. names: what takes the place of the module's own."""
    tree = ast.parse(text.text, text.file)
    wanted = _definition(tree.body, qualname)
    top: dict[str, ast.stmt] = {}
    for node in tree.body:
        for name in _bound(node):
            top[name] = node
    chosen: dict[int, ast.stmt] = {}
    left: list[ast.AST] = [wanted]
    while left:
        for name in _used(left.pop()):
            found = top.get(name)
            if found is not None and name not in names and id(found) not in chosen:
                chosen[id(found)] = found
                left.append(found)
    body = [node for node in tree.body if id(node) in chosen and node is not wanted]
    space: dict[str, Any] = {"__name__": text.module}
    module = ast.Module([_only(node, names) for node in body] + [wanted], [])
    feature = __future__.annotations.compiler_flag
    exec(compile(module, text.file, "exec", flags=feature, dont_inherit=True), space)
    space.update(names)
    made: Callable[..., Any] = space[qualname.rpartition(".")[2]]
    return made


def _read(root: Path, path: str) -> Text:
    file = root / path
    return Text(str(file.relative_to(ROOT)), path.removesuffix(".py").replace("/", "."), file.read_text("utf-8"))


def _definition(body: Iterable[ast.stmt], qualname: str) -> ast.FunctionDef:
    first, _, rest = qualname.partition(".")
    for node in body:
        if isinstance(node, ast.ClassDef) and node.name == first and rest:
            return _definition(node.body, rest)
        if isinstance(node, ast.FunctionDef) and node.name == first and not rest:
            return node
    raise AssertionError(f"no function {qualname}")


def _bound(node: ast.stmt) -> list[str]:
    if isinstance(node, (ast.FunctionDef, ast.ClassDef)):
        return [node.name]
    if isinstance(node, (ast.Import, ast.ImportFrom)):
        return [each.asname or each.name.partition(".")[0] for each in node.names]
    targets = node.targets if isinstance(node, ast.Assign) else [node.target] if isinstance(node, ast.AnnAssign) else []
    return [each.id for each in targets if isinstance(each, ast.Name)]


def _used(node: ast.AST) -> set[str]:
    """Names that are looked up when it runs; what annotations say is not."""
    found: set[str] = set()
    for name, field in ast.iter_fields(node):
        if name in ("annotation", "returns"):
            continue
        for each in field if isinstance(field, list) else [field]:
            if isinstance(each, ast.AST):
                found |= {each.id} if isinstance(each, ast.Name) else _used(each)
    return found


def _only(node: ast.stmt, names: Mapping[str, Any]) -> ast.stmt:
    """An import without the names that are stood in for: what they came from need not be there any more."""
    if isinstance(node, ast.ImportFrom):
        kept = [each for each in node.names if (each.asname or each.name) not in names]
        return ast.copy_location(ast.ImportFrom(node.module, kept, node.level), node)
    return node
