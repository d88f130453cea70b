"""The tree that an inlined expression should have: the body's own, with trees of the arguments for its parameters.

Made without looking at the new text, so that the two can be compared."""

from __future__ import annotations

import ast
import copy
from collections.abc import Mapping, Sequence

from codemods.source.parse import Source

Span = tuple[int, int]
Texts = Mapping[Span, Sequence[tuple[str, bytes]]]


def substituted(body: Source, expression: ast.expr, arguments: Texts, names: Mapping[Span, str]) -> ast.expr:
    """arguments: for the span of each parameter read, what it gets, as (keyword, text); several for a star.
    names: what to write for free names, by span."""
    tree = _Substitution(body, arguments, names).visit(copy.deepcopy(expression))
    assert isinstance(tree, ast.expr)
    return tree


def _tree(text: bytes) -> ast.expr:
    call = ast.parse(b"f(" + text + b"\n)", mode="eval").body
    assert isinstance(call, ast.Call)
    return call.args[0]


class _Substitution(ast.NodeTransformer):
    def __init__(self, body: Source, arguments: Texts, names: Mapping[Span, str]) -> None:
        self.body, self.arguments, self.names = body, arguments, names

    def _span(self, node: ast.AST) -> Span:
        return self.body.start(node), self.body.end(node)

    def visit_Name(self, node: ast.Name) -> ast.AST:
        given = self.arguments.get(self._span(node))
        return _tree(given[0][1]) if given is not None else self._named(node)

    def _named(self, node: ast.expr) -> ast.AST:
        text = self.names.get(self._span(node))
        return ast.parse(text, mode="eval").body if text is not None else node

    def visit_Attribute(self, node: ast.Attribute) -> ast.AST:
        return self._named(node) if self._span(node) in self.names else self.generic_visit(node)

    def visit_Call(self, node: ast.Call) -> ast.AST:
        args: list[ast.expr] = []
        for each in node.args:
            stars = self.arguments.get(self._span(each.value)) if isinstance(each, ast.Starred) else None
            args.extend([_tree(text) for _, text in stars] if stars is not None else [self.visit(each)])
        keywords: list[ast.keyword] = []
        for word in node.keywords:
            rest = self.arguments.get(self._span(word.value)) if word.arg is None else None
            if rest is not None:
                keywords.extend(ast.keyword(name or None, _tree(text)) for name, text in rest)
            else:
                keywords.append(ast.keyword(word.arg, self.visit(word.value)))
        return ast.Call(self.visit(node.func), args, keywords)
