"""Who else makes an object of a class that is given other things now? Calls that were compared are known; whatever else
says the class's name in the tree, and does not only ask what an object is, may still give what it gave before."""

from __future__ import annotations

import ast
from collections.abc import Collection, Iterable, Iterator

from codemods.source.nodes import below, walk
from codemods.verify.names import Definition, Names

_ASKING = frozenset({"isinstance", "issubclass"})
_KINDS = ("type", "__class__")  # what gives the class of an object
_SHOWN = ("__name__", "__qualname__")


def still_made(definition: Definition, paths: Iterable[str], names: Names, made: Collection[tuple[str, int]]) -> str:
    """A place that may make such an object unseen; "" for none. paths: files that say the name; made: the lines of the
    calls that were compared."""
    for path in sorted(paths):
        for node, line in _mentions(names.tree(path), definition[1].rpartition(".")[2], path, made):
            is_name = isinstance(node, ast.Name) and node.id not in _KINDS
            if is_name and _is_another(names.resolve(path, node.id), definition):  # type: ignore[attr-defined]
                continue
            return f"{path}:{line}"
    return ""


def _is_another(ref: tuple[str, ...], definition: Definition) -> bool:
    return ref[0] in ("top", "ext") and ref[1:] != definition


def _word(node: ast.Name | ast.Attribute) -> str:
    return node.id if isinstance(node, ast.Name) else node.attr


def _mentions(
    tree: ast.Module, name: str, path: str, made: Collection[tuple[str, int]]
) -> Iterator[tuple[ast.AST, int]]:
    harmless, wanted = {id(each) for each in _harmless(tree, path, made)}, (name, *_KINDS)
    for node in below(tree):
        if isinstance(node, ast.alias):
            if node.asname not in (None, name) and node.name == name:
                yield node, node.lineno
        elif isinstance(node, (ast.Name, ast.Attribute)) and id(node) not in harmless and _word(node) in wanted:
            yield node, node.lineno


def _harmless(tree: ast.Module, path: str, made: Collection[tuple[str, int]]) -> Iterator[ast.AST]:
    """What is called where it was compared, annotations, and questions what an object is or is called."""
    for node in below(tree):
        if isinstance(node, ast.Compare) or (isinstance(node, ast.Attribute) and node.attr in _SHOWN):
            yield from walk(node)
        if isinstance(node, ast.Call):
            if (path, node.lineno) in made:
                yield node.func
            if isinstance(node.func, ast.Name) and node.func.id in _ASKING:
                yield from (part for each in node.args[1:] for part in walk(each))
        for field in ("annotation", "returns"):
            said = getattr(node, field, None)
            if isinstance(said, ast.AST):
                yield from walk(said)
