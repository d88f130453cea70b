"""Mutants of whole statements: dropped, in another order, returned from too early, their value or result another one.

What would only be a NameError is left out, and so is what nobody could see: a plain assignment to a local variable may
change places with a statement that does not know the variable."""

from __future__ import annotations

import ast
from collections.abc import Callable, Iterator
from itertools import pairwise

from codemods.prove.mutants_ground import Candidate, Ground, Kind, becomes, blocks, is_pure, short
from codemods.prove.mutants_names import Names
from codemods.prove.mutants_operators import Rule
from codemods.source.nodes import walk
from codemods.source.parse import DEFINITIONS, FUNCTIONS, Function

NamedRule = Callable[[Ground, Names, ast.AST], Iterator[Candidate]]

_WITHOUT_EFFECT = (*DEFINITIONS, ast.Import, ast.ImportFrom, ast.Pass, ast.Global, ast.Nonlocal)
_LEAVES = (ast.Return, ast.Raise, ast.Break, ast.Continue)
_DROPPED = (
    ast.AugAssign,
    ast.Delete,
    ast.Assert,
    ast.Global,
    ast.Nonlocal,
    ast.For,
    ast.AsyncFor,
    ast.With,
    ast.AsyncWith,
    ast.Try,
    getattr(ast, "TryStar", ast.Try),  # 3.11 has it
    ast.Match,
)


def is_tail(ground: Ground, statement: ast.stmt, root: ast.AST | None) -> bool:
    """Whether nothing of `root` runs after a statement, a function or loop that it is in."""
    at: ast.AST = statement
    while True:
        parent = ground.parents[at]
        if not any(block[-1] is at for block in blocks(parent)):
            return False
        if parent is root:
            return at in getattr(parent, "body", ())
        if not isinstance(parent, (ast.If, ast.With)):
            return False
        at = parent


def dropped(ground: Ground, kind: Kind, statement: ast.stmt) -> Candidate:
    start, end = ground.first(statement), ground.end(statement)
    note = f"without `{short(ground.body[start:end])}`"
    return ground.splice(kind, start, end, b"pass", note, statement, (start, end))


def _expression(ground: Ground, node: ast.AST) -> Iterator[Candidate]:
    assert isinstance(node, ast.Expr)
    value = node.value.value if isinstance(node.value, ast.Await) else node.value
    if not isinstance(value, ast.Constant):
        yield dropped(ground, Kind.CALL_DROP if isinstance(value, ast.Call) else Kind.STATEMENT_DROP, node)


def _statement(ground: Ground, node: ast.AST) -> Iterator[Candidate]:
    assert isinstance(node, ast.stmt)
    yield dropped(ground, Kind.STATEMENT_DROP, node)


def _assignment(ground: Ground, names: Names, node: ast.AST) -> Iterator[Candidate]:
    """Dropped where the target keeps what it had; else the value gets lost."""
    assert isinstance(node, (ast.Assign, ast.AnnAssign))
    if node.value is None:
        return
    targets = node.targets if isinstance(node, ast.Assign) else [node.target]
    is_plain = all(isinstance(target, ast.Name) for target in targets)
    is_module_level = ground.function(node) is None
    stored = [each for target in targets for each in walk(target) if isinstance(each, ast.Name) and _is_stored(each)]
    if not stored or (not is_module_level and all(names.is_bound_before(each) for each in stored)):
        yield dropped(ground, Kind.STATEMENT_DROP, node)
    elif is_plain and not isinstance(node.value, ast.Constant):
        yield ground.replace(Kind.VALUE, node.value, b"None", becomes(ground.segment(node.value), b"None"))


def _is_stored(node: ast.Name) -> bool:
    return isinstance(node.ctx, ast.Store)


def _swaps(ground: Ground, names: Names, node: ast.AST) -> Iterator[Candidate]:
    for block in blocks(node):
        for one, other in pairwise(block):
            if _can_swap(one) and _can_swap(other) and _is_seen(names, ground, one, other):
                start, middle, then, end = ground.start(one), ground.end(one), ground.start(other), ground.end(other)
                text = ground.segment(other) + ground.body[middle:then] + ground.segment(one)
                note = f"`{short(ground.segment(one), 36)}` and `{short(ground.segment(other), 36)}` change places"
                yield ground.splice(Kind.STATEMENT_SWAP, start, end, text, note, one, (start, end))


def _can_swap(statement: ast.stmt) -> bool:
    if isinstance(statement, ast.Expr) and isinstance(statement.value, ast.Constant):
        return False
    if isinstance(statement, ast.AnnAssign) and statement.value is None:
        return False
    return not isinstance(statement, (*_WITHOUT_EFFECT, *_LEAVES))


def _is_seen(names: Names, ground: Ground, one: ast.stmt, other: ast.stmt) -> bool:
    """Whether the order of two statements could matter, and the other order is not just a name without a value."""
    if ground.function(one) is None:
        stored = {each.id for each in walk(one) if isinstance(each, ast.Name) and _is_stored(each)}
        return not any(isinstance(each, ast.Name) and each.id in stored for each in walk(other))
    new = {each.id for each in walk(one) if isinstance(each, ast.Name) and not names.is_bound_before(each)}
    if any(isinstance(each, ast.Name) and isinstance(each.ctx, ast.Load) and each.id in new for each in walk(other)):
        return False
    return not (_is_unseen(names, one, other) or _is_unseen(names, other, one))


def _is_unseen(names: Names, one: ast.stmt, other: ast.stmt) -> bool:
    """Whether `one` only gives local variables a value that `other` has nothing to do with."""
    if not isinstance(one, ast.Assign) or not is_pure(one.value):
        return False
    targets = [each for each in one.targets if isinstance(each, ast.Name) and names.is_local(each)]
    mine = {each.id for each in walk(one.value) if isinstance(each, ast.Name)}
    theirs = [each for each in walk(other) if isinstance(each, ast.Name)]
    is_apart = not {each.id for each in targets} & {each.id for each in theirs}
    is_steady = not mine & {each.id for each in theirs if not isinstance(each.ctx, ast.Load)}
    return len(targets) == len(one.targets) and is_apart and is_steady


def _early(ground: Ground, node: ast.AST) -> Iterator[Candidate]:
    """A `return` before each statement of a function, and at the start of each block in it."""
    assert isinstance(node, FUNCTIONS)
    for statement in node.body:
        yield from _return_before(ground, node, statement)
    waiting: list[ast.AST] = list(node.body)
    while waiting:
        at = waiting.pop(0)
        if isinstance(at, DEFINITIONS):
            continue
        for block in blocks(at):
            yield from _return_before(ground, node, block[0])
            waiting.extend(block)
        waiting.extend([*getattr(at, "handlers", ()), *getattr(at, "cases", ())])


def _return_before(ground: Ground, function: Function, statement: ast.stmt) -> Iterator[Candidate]:
    is_text = isinstance(statement, ast.Expr) and isinstance(statement.value, ast.Constant)
    if is_text or isinstance(statement, (*_WITHOUT_EFFECT, ast.Return, ast.Raise)):
        return
    start, end = ground.start(statement), ground.end(statement)
    is_elif = ground.body.startswith(b"elif", start)
    if is_elif or (not hasattr(statement, "body") and is_tail(ground, statement, function)):
        return
    text = b"return; "
    if ground.starts_line(start):
        text = b"return" + ground.source.text.newline + ground.body[ground.source.text.line_start(start) : start]
    note = f"`return` before `{short(ground.body[start:end])}`"
    yield Candidate(
        kind=Kind.EARLY_RETURN, start=start, end=start, text=text, note=note, node=statement, span=(start, end)
    )


def _return(ground: Ground, node: ast.AST) -> Iterator[Candidate]:
    assert isinstance(node, ast.Return)
    function = ground.function(node)
    if function is None:
        return
    is_last = is_tail(ground, node, function)
    span = (ground.start(node), ground.end(node))
    if node.value is None or is_pure(node.value):
        if not is_last:
            yield dropped(ground, Kind.RETURN, node)
    else:
        start, value = ground.start(node), ground.skip_blank(ground.start(node) + len(b"return"))
        note = f"`{short(ground.segment(node))}` without `return`"
        yield ground.splice(Kind.RETURN, start, value, b"", note, node, span)
    if ground.yields(function):
        return
    if node.value is None:
        yield ground.splice(Kind.RETURN, *span, b"return 1", becomes(b"return", b"return 1"), node, span)
    elif isinstance(node.value, ast.Constant) and node.value.value is None:
        yield ground.replace(Kind.RETURN, node.value, b"1", becomes(ground.segment(node), b"return 1"))
    else:
        yield ground.replace(Kind.RETURN, node.value, b"None", becomes(ground.segment(node), b"return None"))


def _raise(ground: Ground, node: ast.AST) -> Iterator[Candidate]:
    assert isinstance(node, ast.Raise)
    yield dropped(ground, Kind.RAISE_DROP, node)
    if node.exc is None:
        return
    raised = node.exc.func if isinstance(node.exc, ast.Call) else node.exc
    old = ground.segment(raised)
    new = b"ValueError" if old == b"RuntimeError" else b"RuntimeError"
    yield ground.replace(Kind.EXCEPTION, raised, new, becomes(old, new))
    if node.cause is not None:
        at = ground.find(b"from", ground.end(node.exc), ground.start(node.cause))
        start = len(ground.body[:at].rstrip())
        note = f"without `from {short(ground.segment(node.cause))}`"
        if at >= 0:
            yield ground.splice(Kind.EXCEPTION, start, ground.end(node), b"", note, node)


_BLOCKS = (ast.Module, ast.ClassDef, *FUNCTIONS, ast.If, ast.For, ast.AsyncFor, ast.While, ast.With, ast.AsyncWith)
_MORE_BLOCKS = (ast.Try, getattr(ast, "TryStar", ast.Try), ast.ExceptHandler, ast.match_case)

RULES: dict[type[ast.AST], tuple[Rule, ...]] = {
    ast.Expr: (_expression,),
    ast.Return: (_return,),
    ast.Raise: (_raise,),
    **dict.fromkeys(FUNCTIONS, (_early,)),
    **dict.fromkeys(_DROPPED, (_statement,)),
}
NAMED_RULES: dict[type[ast.AST], tuple[NamedRule, ...]] = {
    **dict.fromkeys([*_BLOCKS, *_MORE_BLOCKS], (_swaps,)),
    ast.Assign: (_assignment,),
    ast.AnnAssign: (_assignment,),
}
