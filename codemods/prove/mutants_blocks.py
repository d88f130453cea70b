"""Mutants of what is around statements: exception handlers, jumps of loops, `with`, decorators."""

from __future__ import annotations

import ast
from collections.abc import Iterator

from codemods.prove.mutants_ground import Candidate, Ground, Kind, becomes, short
from codemods.prove.mutants_operators import Rule
from codemods.prove.mutants_statements import dropped, is_tail
from codemods.source.parse import DEFINITIONS

# They say something to readers and type checkers only.
_SILENT = frozenset({"overload", "override", "final", "no_type_check", "runtime_checkable", "type_check_only"})
_LOOPS = (ast.For, ast.AsyncFor, ast.While)


def _handler(ground: Ground, node: ast.AST) -> Iterator[Candidate]:
    """It catches more, less, nothing."""
    assert isinstance(node, ast.ExceptHandler)
    is_star = type(ground.parents[node]).__name__ == "TryStar"
    if node.type is None:
        at = ground.start(node) + len(b"except")
        for new in (b"Exception", b"()"):
            note = becomes(b"except", b"except " + new)
            yield Candidate(kind=Kind.HANDLER, start=at, end=at, text=b" " + new, note=note, node=node)
        return
    before = ground.segment(node.type)
    wider = {b"Exception": b"BaseException", b"BaseException": b"Exception"}.get(before, b"Exception")
    news = [wider] if is_star else [wider, b"()"]
    if isinstance(node.type, ast.Tuple) and len(node.type.elts) > 1:
        for each in node.type.elts:
            kept = b"".join(ground.segment(one) + b", " for one in node.type.elts if one is not each)
            news.append(b"(" + (kept if kept.count(b", ") == 1 else kept[:-2]).rstrip() + b")")
    for new in news:
        note = becomes(b"except " + before, b"except " + new)
        yield ground.replace(Kind.HANDLER, node.type, new, note)


def _jump(ground: Ground, node: ast.AST) -> Iterator[Candidate]:
    """`break` and `continue` taken for each other or left out; not where the loop has no other end."""
    assert isinstance(node, (ast.Break, ast.Continue))
    loop = ground.source.enclosing(node, *_LOOPS)
    if loop is None or (isinstance(node, ast.Break) and _is_endless(loop)):
        return
    old, new = (b"break", b"continue") if isinstance(node, ast.Break) else (b"continue", b"break")
    span = (ground.start(node), ground.end(node))
    yield ground.splice(Kind.LOOP, *span, new, becomes(old, new), node, span)
    if isinstance(node, ast.Break) or not is_tail(ground, node, loop):
        yield dropped(ground, Kind.LOOP, node)


def _is_endless(loop: ast.AST) -> bool:
    return isinstance(loop, ast.While) and isinstance(loop.test, ast.Constant)


def _with(ground: Ground, node: ast.AST) -> Iterator[Candidate]:
    """The managers are made and bound, but neither entered nor left: `with a as b:` becomes `if [b := a]:`."""
    assert isinstance(node, (ast.With, ast.AsyncWith))
    if not all(isinstance(item.optional_vars, (ast.Name, type(None))) for item in node.items):
        return
    last = node.items[-1].optional_vars or node.items[-1].context_expr
    start = ground.start(node)
    colon = ground.find(b":", ground.end(last), ground.first(node.body[0]))
    if colon < 0:
        return
    parts = []
    for item in node.items:
        name = b"" if item.optional_vars is None else ground.segment(item.optional_vars) + b" := "
        parts.append(name + ground.wrapped(item.context_expr))
    text = b"if [" + b", ".join(parts) + b"]"
    note = f"`{short(ground.body[start:colon])}` is neither entered nor left"
    yield ground.splice(Kind.WITH_DROP, start, colon, text, note, node)


def _decorators(ground: Ground, node: ast.AST) -> Iterator[Candidate]:
    assert isinstance(node, DEFINITIONS)
    for decorator in node.decorator_list:
        called = decorator.func if isinstance(decorator, ast.Call) else decorator
        name = called.attr if isinstance(called, ast.Attribute) else getattr(called, "id", "")
        if name in _SILENT:
            continue
        start = ground.at_sign(decorator)
        end = ground.source.text.line_end(ground.end(decorator))
        while ground.body[end : end + 1] in (b" ", b"\t"):
            end += 1
        note = f"without `@{short(ground.segment(decorator))}`"
        yield Candidate(kind=Kind.DECORATOR_DROP, start=start, end=end, text=b"", note=note, node=node)


RULES: dict[type[ast.AST], tuple[Rule, ...]] = {
    ast.ExceptHandler: (_handler,),
    ast.Break: (_jump,),
    ast.Continue: (_jump,),
    ast.With: (_with,),
    ast.AsyncWith: (_with,),
    **dict.fromkeys(DEFINITIONS, (_decorators,)),
}
