"""A cheap look at a file for the sake of one word: parsed, but without the bodies of functions that do not mention it.

Scopes, parents and spans are then made for a small part of the file. Such a Source is for reading facts: what stands in
the functions left out is not there, so it says nothing of the file as a whole."""

from __future__ import annotations

import ast
import copy
from bisect import bisect_left
from collections import OrderedDict
from typing import TypeVar

from codemods.source.files import FileSet
from codemods.source.mentions import lines_of
from codemods.source.parse import FUNCTIONS, Source, forget, light_tree, loaded

_KEEP = 48

_glimpses: OrderedDict[tuple[str, bytes, str], Source] = OrderedDict()


def glimpse(files: FileSet, path: str, word: str) -> Source:
    """The file with those functions that mention the word; the whole Source where that is at hand anyway."""
    whole = loaded(files, path)
    if whole is not None:
        return whole
    key = (path, files.read(path), word)
    found = _glimpses.get(key)
    if found is None:
        text, tree = light_tree(files, path)
        found = _glimpses[key] = Source(path, key[1], tree=_pruned(tree, lines_of(text, word)))
        while len(_glimpses) > _KEEP:
            forget(_glimpses.popitem(last=False)[1])
    else:
        _glimpses.move_to_end(key)
    return found


_Node = TypeVar("_Node", bound=ast.AST)


def _pruned(node: _Node, lines: list[int]) -> _Node:
    """The node itself, or a copy in which functions without any of the lines have lost their bodies."""
    if isinstance(node, FUNCTIONS):
        index = bisect_left(lines, node.lineno)
        if index < len(lines) and lines[index] <= (node.end_lineno or node.lineno):
            return node
        return _with(node, {"body": [ast.copy_location(ast.Pass(), node.body[-1])]})
    changed: dict[str, list[ast.AST]] = {}
    for field in ("body", "orelse", "finalbody", "handlers", "cases"):
        block = getattr(node, field, None)
        if isinstance(block, list):
            kept = [_pruned(each, lines) for each in block]
            if any(new is not old for new, old in zip(kept, block, strict=True)):
                changed[field] = kept
    return _with(node, changed) if changed else node


def _with(node: _Node, changed: dict[str, list[ast.AST]]) -> _Node:
    made = copy.copy(node)
    for field, block in changed.items():
        setattr(made, field, block)
    return made
