"""The ways in which one function can be weakened, as edits of its syntax tree. Decides nothing about what they do.

Each rule takes away something that makes the kernel say no: a complaint, a condition before one, the comparison of a
part, a record of what happened, the difference between two values. What is answered once a complaint has been made does
not matter any more, and is left alone."""

from __future__ import annotations

import ast
from collections.abc import Callable, Iterator
from dataclasses import dataclass

# Complaints: without them a line counts as explained.
_COMPLAINTS = frozenset({"_differ", "_residue", "_residue_line", "_duty", "_unmatched", "_overdue"})
# Comparisons that answer True where nothing is wrong.
_ANSWERS = """
    same _shape _list _bind _bind_attribute _nested _comprehension _conditional _lazy _alone _alone_attribute _truth
    _is_attribute
"""
_COMPARISONS = frozenset(_ANSWERS.split())
# Their absence leaves lines unexplained, or says another word for the same: it can't hide a difference.
_HARMLESS = frozenset({"_mark", "_marks", "cover", "cover_head"})
# Nodes that are compared field by field; the others have a way of their own each.
_PLAIN: set[type[ast.AST]] = {
    ast.arguments,
    ast.arg,
    ast.keyword,
    ast.Return,
    ast.Raise,
    ast.Assert,
    ast.Expr,
    ast.Global,
}
_PLAIN |= {*ast.expr.__subclasses__(), *ast.pattern.__subclasses__()}
_PLAIN -= {ast.Name, ast.Lambda, ast.ListComp, ast.SetComp, ast.DictComp, ast.GeneratorExp, ast.NamedExpr}
_PLAIN -= {ast.IfExp, ast.BoolOp}
_FIELDS = sorted({name for kind in _PLAIN for name in kind._fields} - {"ctx", "kind", "type_comment"})


@dataclass(frozen=True)
class Edit:
    """`place` is replaced by `by`; None takes a statement away. more: further replacements of the same edit."""

    rule: str
    place: ast.AST
    by: ast.AST | None
    detail: str = ""
    more: tuple[tuple[ast.AST, ast.AST | None], ...] = ()


def edits(function: ast.FunctionDef) -> Iterator[Edit]:
    """Every edit of one function, in the order of its text."""
    for node in ast.walk(function):
        for rule in _RULES:
            yield from rule(node)
    yield from _paths(function)


def _called(node: ast.AST | None) -> str:
    """`m` of `self.m(...)` and of `m(...)`."""
    func = node.func if isinstance(node, ast.Call) else None
    return func.attr if isinstance(func, ast.Attribute) else func.id if isinstance(func, ast.Name) else ""


def _constant(value: object) -> ast.expr:
    return ast.Constant(value)  # type: ignore[arg-type]


# ---- statements


def _dropped(node: ast.AST) -> Iterator[Edit]:
    """Nothing is said, stored, counted or run."""
    if isinstance(node, ast.Expr) and isinstance(node.value, ast.Call) and _called(node.value) not in _HARMLESS:
        if not _is_path(node):
            yield Edit("drop", node, None)
    elif isinstance(node, ast.Assign) and all(_is_kept(each) for each in node.targets):
        yield Edit("drop", node, None)
    elif isinstance(node, ast.AugAssign) and not _is_good(node.target):
        yield Edit("drop", node, None)
        if isinstance(node.op, (ast.BitOr, ast.BitAnd)):
            target = node.target
            yield Edit("overwrite", node, ast.Assign([target], node.value, lineno=node.lineno))
    elif isinstance(node, ast.Return) and _called(node.value) == "_unmatched":
        yield Edit("drop", node, ast.Return(None))


def _is_good(target: ast.expr) -> bool:
    """The answer of a comparison on its way: what is wrong has been said when it is False, and stays said."""
    return isinstance(target, ast.Name) and target.id == "good"


def _is_kept(target: ast.expr) -> bool:
    """Whether a target is part of what the kernel remembers; `_kind` only names the operation."""
    while isinstance(target, (ast.Subscript, ast.Tuple)):
        target = target.value if isinstance(target, ast.Subscript) else target.elts[0]
    return isinstance(target, ast.Attribute) and target.attr != "_kind"


def _looped(node: ast.AST) -> Iterator[Edit]:
    """A loop that looks at nothing, or leaves one thing out."""
    if not isinstance(node, (ast.For, ast.comprehension)):
        return
    at = node.iter
    if isinstance(node, ast.For):
        yield Edit("loop", at, ast.Tuple([], ast.Load()))
    if isinstance(at, ast.Attribute) and at.attr == "_fields":
        for name in _FIELDS:
            text = f"tuple(each for each in {ast.unparse(at)} if each != {name!r})"
            yield Edit("field", at, ast.parse(text, mode="eval").body, name)


def _parts(node: ast.AST) -> Iterator[Edit]:
    """A list or tuple of several parts without one of them; a value that lost what tells it from others."""
    if not isinstance(node, (ast.List, ast.Tuple)) or not isinstance(node.ctx, ast.Load):
        return
    is_value = isinstance(node, ast.Tuple) and bool(node.elts) and _is_text(node.elts[0])
    if not is_value and any(isinstance(each, ast.Starred) for each in node.elts):
        for number, each in enumerate(node.elts):
            kept = [*node.elts[:number], *node.elts[number + 1 :]]
            yield Edit("part", node, type(node)(kept, ast.Load()), f"without {ast.unparse(each)}")
    elif is_value and not any(map(_is_text, node.elts[1:])):
        for number, each in enumerate(node.elts[1:], 1):
            kept = [*node.elts[:number], _constant(None), *node.elts[number + 1 :]]
            yield Edit("blur", node, ast.Tuple(kept, ast.Load()), f"without {ast.unparse(each)}")


def _is_text(node: ast.expr) -> bool:
    return isinstance(node, ast.Constant) and isinstance(node.value, str)


# ---- calls


def _skipped(node: ast.AST) -> Iterator[Edit]:
    """A complaint or a comparison whose answer is used: all is well."""
    name = _called(node)
    if name in _COMPARISONS or name in ("_differ", "_residue"):
        yield Edit("skip", node, _constant(True))
    elif name == "_branch":
        yield Edit("skip", node, ast.parse("self.state.copy()", mode="eval").body)


def _unfresh(node: ast.AST) -> Iterator[Edit]:
    """A new value that is the same as other new ones."""
    if isinstance(node, ast.Call) and ast.unparse(node) in ("self._new()", "next(self._fresh)"):
        yield Edit("fresh", node, _constant(0) if _called(node) == "next" else ast.parse("('fresh', 0)").body[0].value)  # type: ignore[attr-defined]


def _is_path(node: ast.AST) -> bool:
    return ast.unparse(node).startswith(("self._path.append(", "self._path.pop(", "del self._path["))


def _paths(function: ast.FunctionDef) -> Iterator[Edit]:
    """A function that does not say that it goes under a condition."""
    found = [node for node in ast.walk(function) if isinstance(node, ast.stmt) and _is_path(node)]
    if found:
        yield Edit("path", found[0], None, more=tuple((each, None) for each in found[1:]))


# ---- conditions


def _conditions(node: ast.AST) -> Iterator[Edit]:
    """A condition that a complaint depends on never holds, nor a part of it; answers lose their parts; what compares
    finds everything equal, wherever it stands."""
    if isinstance(node, ast.If) and _complains(node.body):
        yield from _fixed(node.test, False)
    elif isinstance(node, (ast.Return, ast.Assign, ast.keyword)) and _is_question(node.value):
        if not (isinstance(node, ast.Assign) and ast.unparse(node.targets[0]) == "self._kind"):
            for value in (False, True):
                yield from _fixed(node.value, value)  # type: ignore[arg-type]
    elif isinstance(node, (ast.GeneratorExp, ast.ListComp)) and _is_question(node.elt):
        for value in (False, True):
            yield from _fixed(node.elt, value)
    elif isinstance(node, ast.Compare) and len(node.ops) == 1:
        if isinstance(node.ops[0], (ast.Eq, ast.Is, ast.In)):
            yield Edit("always", node, _constant(True))
        elif isinstance(node.ops[0], (ast.NotEq, ast.IsNot, ast.NotIn)):
            yield Edit("never", node, _constant(False))
        yield from _shortened(node)


def _is_question(node: ast.expr | None) -> bool:
    """Whether an expression is a truth value by its form."""
    if isinstance(node, ast.BoolOp):
        return any(map(_is_question, node.values))
    if isinstance(node, ast.UnaryOp):
        return isinstance(node.op, ast.Not)
    return isinstance(node, ast.Compare) or _called(node) in ("isinstance", "any", "all", "bool")


def _complains(body: list[ast.stmt]) -> bool:
    """Whether a block says no: by a complaint, or by an answer that stands for "not known" or "not the same"."""
    return any(
        _called(node) in _COMPLAINTS
        or (isinstance(node, ast.Return) and (node.value is None or ast.unparse(node.value) in ("False", "None")))
        for each in body
        for node in ast.walk(each)
    )


def _fixed(test: ast.expr, value: bool) -> Iterator[Edit]:
    """The condition, or a part of it, as if it always were `value`."""
    for part, its in ((test, value), *_inner(test, value)):
        if not (its and _is_dispatch(part)):
            yield Edit("always" if its else "never", part, _constant(its))


def _is_dispatch(test: ast.expr) -> bool:
    """Whether a condition only asks of what kind a node is: taken for another kind, it can't even be read."""
    if isinstance(test, ast.BoolOp):
        return all(map(_is_dispatch, test.values))
    return _called(test) == "isinstance"


def _shortened(node: ast.Compare) -> Iterator[Edit]:
    """Two tuples compared without one of their parts."""
    sides = [node.left, *node.comparators]
    if not all(isinstance(each, ast.Tuple) for each in sides):
        return
    sizes = {len(each.elts) for each in sides if isinstance(each, ast.Tuple)}
    if len(sizes) != 1:
        return
    for number in range(sizes.pop()):
        left, *right = (
            ast.Tuple([p for i, p in enumerate(s.elts) if i != number], ast.Load())
            for s in sides
            if isinstance(s, ast.Tuple)
        )
        yield Edit("short", node, ast.Compare(left, node.ops, list(right)), f"without part {number}")


def _inner(test: ast.expr, value: bool) -> Iterator[tuple[ast.expr, bool]]:
    """The parts of a condition that, each alone, make it hold more often (value) or less often (not value)."""
    if isinstance(test, ast.UnaryOp) and isinstance(test.op, ast.Not):
        yield from _inner(test.operand, not value)
    elif isinstance(test, ast.BoolOp):
        is_free = isinstance(test.op, ast.And) is value
        for each in test.values:
            if is_free:
                yield each, value
            yield from _inner(each, value)
    elif isinstance(test, ast.Call) and _called(test) in ("any", "all") and isinstance(test.args[0], ast.GeneratorExp):
        yield from _inner(test.args[0].elt, value)


_RULES: tuple[Callable[[ast.AST], Iterator[Edit]], ...] = (
    _dropped,
    _looped,
    _parts,
    _skipped,
    _unfresh,
    _conditions,
)
