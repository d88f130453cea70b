"""A cheap look at a file for the sake of one word: parsed, but without the bodies of functions that do not mention it.

Scopes, parents and spans are then made for a small part of the file. Such a Source is for reading facts: what stands in
the functions left out is not there, so it says nothing of the file as a whole."""

from __future__ import annotations

import ast
from bisect import bisect_left
from collections import OrderedDict

from codemods.source.files import FileSet
from codemods.source.mentions import lines_of
from codemods.source.parse import FUNCTIONS, Source, loaded, parse_tree
from codemods.source.text import Text

_KEEP_TREES = 2  # whole trees are large; these are for questions that follow each other
_KEEP = 48

_trees: OrderedDict[tuple[str, bytes], tuple[Text, ast.Module]] = OrderedDict()
_glimpses: OrderedDict[tuple[str, bytes, str], Source] = OrderedDict()


def light_tree(files: FileSet, path: str) -> tuple[Text, ast.Module]:
    """The text and the tree as `ast` gives it (before 3.12, positions in f-strings are wrong). Not to be changed."""
    raw = files.read(path)
    kept = loaded(files, path)
    if kept is not None:
        return kept.text, kept.tree
    key = (path, raw)
    if key not in _trees:
        text = Text(path, raw)
        _trees[key] = (text, parse_tree(path, text.body))
        while len(_trees) > _KEEP_TREES:
            _trees.popitem(last=False)
    return _trees[key]


def glimpse(files: FileSet, path: str, word: str) -> Source:
    """The file with those functions that mention the word; the whole Source where that is at hand anyway."""
    whole = loaded(files, path)
    if whole is not None:
        return whole
    key = (path, files.read(path), word)
    found = _glimpses.get(key)
    if found is None:
        text, tree = light_tree(files, path)
        _trees.pop(key[:2], None)  # it is cut up now
        _prune(tree, lines_of(text, word))
        found = _glimpses[key] = Source(path, key[1], tree=tree)
        while len(_glimpses) > _KEEP:
            _glimpses.popitem(last=False)
    else:
        _glimpses.move_to_end(key)
    return found


def _prune(tree: ast.Module, lines: list[int]) -> None:
    stack: list[ast.AST] = list(tree.body)
    while stack:
        node = stack.pop()
        if isinstance(node, FUNCTIONS):
            index = bisect_left(lines, node.lineno)
            if index == len(lines) or lines[index] > (node.end_lineno or node.lineno):
                last = node.body[-1]
                node.body = [ast.copy_location(ast.Pass(), last)]
        elif isinstance(node, ast.stmt):
            stack.extend(child for child in ast.iter_child_nodes(node) if not isinstance(child, ast.expr))
        elif isinstance(node, ast.ExceptHandler) or type(node).__name__ == "match_case":
            stack.extend(ast.iter_child_nodes(node))
