"""The forms of functions, classes and conditions: small questions about one piece of syntax."""

from __future__ import annotations

import ast
from collections.abc import Iterator, Sequence
from difflib import SequenceMatcher
from typing import Any

from codemods.source.nodes import children, walk
from codemods.verify.frames import Frame, Literal
from codemods.verify.names import Definition
from codemods.verify.scopes import Function

_ENDS = (ast.Return, ast.Raise, ast.Continue, ast.Break)
_SCOPES = (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef, ast.Lambda)
_FLAT = {ast.Is: (ast.Is, False), ast.IsNot: (ast.Is, True), ast.In: (ast.In, False), ast.NotIn: (ast.In, True)}
_DATA = frozenset({"NamedTuple", "Struct", "dataclass", "dataclasses.dataclass", "msgspec.Struct", "typing.NamedTuple"})
NOTHING = object()


def record_fields(node: ast.stmt) -> list[str] | None:
    """The fields of a class that is nothing but fields: NamedTuple, dataclass or msgspec.Struct without methods."""
    if not isinstance(node, ast.ClassDef):
        return None
    words = [
        ast.unparse(each.func if isinstance(each, ast.Call) else each) for each in [*node.bases, *node.decorator_list]
    ]
    if not words or not set(words) <= _DATA:
        return None
    body = without_docstring(node.body)
    if not all(
        isinstance(each, ast.AnnAssign) and isinstance(each.target, ast.Name) and not each.value for each in body
    ):
        return None
    return [each.target.id for each in body]  # type: ignore[attr-defined]


def signature(node: ast.stmt, definition: Definition) -> tuple[str, ...]:
    """What a caller has to know: kinds, names and defaults of the parameters, and whether there is a `self`."""
    if not isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef)):
        return ()
    args, is_method = node.args, takes_self(node, definition[1].rpartition(".")[0])
    parts = [
        *(f"/{arg.arg}" for arg in args.posonlyargs),
        *(arg.arg for arg in args.args),
        *(f"*{arg.arg}" for arg in args.kwonlyargs),
        f"**{args.vararg and args.vararg.arg} {args.kwarg and args.kwarg.arg}",
    ]
    defaults = [ast.dump(each) if each else "" for each in [*args.defaults, *args.kw_defaults]]
    return (str(is_method), *parts, *defaults)


def places(node: Function, owner: str) -> dict[str, int]:
    """Where a call fills each parameter that it may fill without naming it; the starred ones stand before the first."""
    args = node.args
    plain = [*args.posonlyargs, *args.args][takes_self(node, owner) :]
    starred = {each.arg: number for number, each in ((-1, args.vararg), (-2, args.kwarg)) if each}
    return {each.arg: number for number, each in enumerate(plain)} | starred


def literals(node: ast.expr, frame: Frame, negated: bool) -> list[Literal]:
    """A condition as parts that must all hold, `not` driven inwards."""
    if isinstance(node, ast.UnaryOp) and isinstance(node.op, ast.Not):
        return literals(node.operand, frame, not negated)
    if isinstance(node, ast.BoolOp) and isinstance(node.op, ast.Or if negated else ast.And):
        return [each for value in node.values for each in literals(value, frame, negated)]
    if isinstance(node, ast.Compare) and len(node.ops) == 1 and type(node.ops[0]) in _FLAT:
        operator, is_not = _FLAT[type(node.ops[0])]
        return [Literal(node.left, frame, negated is not is_not, operator, node.comparators[0])]
    return [Literal(node, frame, negated)]


def ends(body: Sequence[ast.stmt]) -> bool:
    if not body:
        return False
    last = body[-1]
    return isinstance(last, _ENDS) or (isinstance(last, ast.If) and ends(last.body) and ends(last.orelse))


def leaves_on_error(node: ast.Try) -> bool:
    """Whether what follows runs only where nothing was caught: it is part of the `else` then."""
    return bool(node.handlers) and not node.finalbody and all(ends(each.body) for each in node.handlers)


def with_rest(node: ast.Try, rest: Sequence[ast.stmt]) -> ast.Try:
    """The statement with what follows it in its `else`."""
    return ast.copy_location(ast.Try(node.body, node.handlers, [*node.orelse, *rest], []), node)


def is_name_returned(node: ast.stmt) -> bool:
    """`return x`: where both ways to it give x a value, each may as well return its own."""
    return isinstance(node, ast.Return) and isinstance(node.value, ast.Name)


def as_condition(node: ast.stmt) -> ast.If | None:
    """`x = a if c else b` as the statement that says the same; None for anything else."""
    value = getattr(node, "value", None)
    if not isinstance(value, ast.IfExp) or not isinstance(node, (ast.Assign, ast.Return)):
        return None
    if isinstance(node, ast.Assign) and (len(node.targets) != 1 or isinstance(node.targets[0], ast.Subscript)):
        return None  # a key would be evaluated after the condition
    arms: list[ast.stmt] = []
    for part in (value.body, value.orelse):
        arm = ast.Return(part) if isinstance(node, ast.Return) else ast.Assign(node.targets, part, None)
        arms.append(ast.copy_location(arm, part))
    return ast.copy_location(ast.If(value.test, [arms[0]], [arms[1]]), node)


def returns_last(body: Sequence[ast.stmt], *, is_last: bool) -> bool:
    """Whether nothing of the block runs after any of its `return`s."""
    for at, node in enumerate(body):
        is_end = is_last and at == len(body) - 1
        if isinstance(node, ast.Return):
            if at != len(body) - 1 or not (is_last or ends(body)):
                return False
        elif isinstance(node, ast.If):
            for arm in (node.body, node.orelse):
                if _has_return(arm) and not ((is_end or ends(arm)) and returns_last(arm, is_last=is_end or ends(arm))):
                    return False
        elif isinstance(node, ast.Try) and (is_end or leaves_on_error(node)) and not node.finalbody:
            blocks = [each.body for each in node.handlers] + [node.orelse]
            if _has_return(node.body) or not all(returns_last(block, is_last=True) for block in blocks):
                return False
        elif isinstance(node, (ast.With, ast.AsyncWith)) and is_end:
            if not returns_last(node.body, is_last=True):
                return False
        elif _has_return([node]):
            return False
    return True


def is_silent(body: Sequence[ast.stmt]) -> bool:
    """Whether no `return` of the block gives anything."""
    return not any(
        isinstance(node, ast.Return) and node.value is not None and not is_none(node.value)
        for each in body
        for node in walk(each)
    )


def _has_return(body: Sequence[ast.stmt]) -> bool:
    return _any(body, ast.Return)


def is_generator(node: Function) -> bool:
    return _any(node.body, (ast.Yield, ast.YieldFrom))


def _any(body: Sequence[ast.AST], kinds: type | tuple[type, ...]) -> bool:
    """Whether a node of these kinds is in the block itself, not in a function of its own."""
    todo: list[ast.AST] = list(body)
    while todo:
        node = todo.pop()
        if isinstance(node, kinds):
            return True
        if not isinstance(node, _SCOPES):
            todo += children(node)
    return False


def root(node: ast.expr | None) -> str:
    """The name a chain of attributes starts from."""
    while isinstance(node, ast.Attribute):
        node = node.value
    return node.id if isinstance(node, ast.Name) else ""


def is_none(node: ast.expr) -> bool:
    return isinstance(node, ast.Constant) and node.value is None


def without_docstring(body: Sequence[ast.stmt]) -> Sequence[ast.stmt]:
    first = body[0]
    is_text = (
        isinstance(first, ast.Expr) and isinstance(first.value, ast.Constant) and isinstance(first.value.value, str)
    )
    return body[1:] if is_text else body


def takes_self(node: Function, owner: str) -> bool:
    words = [ast.unparse(each) for each in node.decorator_list]
    return (
        bool(owner)
        and "staticmethod" not in words
        and "classmethod" not in words
        and bool(node.args.posonlyargs or node.args.args)
    )


def is_repeatable(node: ast.expr) -> bool:
    if isinstance(node, ast.Call):
        plain = not node.args and not node.keywords and isinstance(node.func, (ast.Name, ast.Attribute))
        return plain or ast.unparse(node) == "logging.getLogger(__name__)"
    if isinstance(node, ast.UnaryOp):
        return isinstance(node.operand, ast.Constant)
    if isinstance(node, ast.Tuple):
        return all(is_repeatable(part) for part in node.elts)
    return isinstance(node, ast.Constant)


def definition_of(frame: Frame) -> Function:
    assert isinstance(frame.function, (ast.FunctionDef, ast.AsyncFunctionDef))
    return frame.function


def has(node: ast.AST, kinds: tuple[type[ast.AST], ...]) -> bool:
    return any(isinstance(inner, kinds) for inner in walk(node))


def makes_keys(node: ast.AST) -> bool:
    """Whether objects are hashed: as keys of a dict, or as members of a set; constants don't count."""
    keys = [
        key
        for each in walk(node)
        if isinstance(each, (ast.Dict, ast.Set))
        for key in (each.keys if isinstance(each, ast.Dict) else each.elts)
    ]
    return not all(isinstance(key, ast.Constant) for key in keys)


def binds_inside(*nodes: ast.AST | None) -> bool:
    """Whether one of these expressions binds a name, which a condition may skip."""
    return any(node is not None and has(node, (ast.NamedExpr,)) for node in nodes)


def aligned(a: list[Any], b: list[Any]) -> Iterator[tuple[Any, Any]]:
    """Lists of unequal length, part by part; NOTHING stands where one side has no counterpart."""
    keys = [
        [ast.dump(each) if isinstance(each, ast.expr) else getattr(each, "arg", None) for each in part]
        for part in (a, b)
    ]
    for tag, i, k, j, m in SequenceMatcher(None, keys[0], keys[1], autojunk=False).get_opcodes():
        if tag == "equal":
            yield from zip(a[i:k], b[j:m], strict=True)
        else:
            yield from ((each, NOTHING) for each in a[i:k])
            yield from ((NOTHING, each) for each in b[j:m])


def bound_names(node: ast.Import | ast.ImportFrom) -> list[str]:
    return [
        alias.asname or (alias.name.partition(".")[0] if isinstance(node, ast.Import) else alias.name)
        for alias in node.names
    ]


def as_read(node: ast.expr) -> ast.expr:
    """A target as it is read; positions are kept."""
    if isinstance(node, ast.Name):
        return ast.copy_location(ast.Name(node.id, ast.Load()), node)
    if isinstance(node, ast.Attribute):
        return ast.copy_location(ast.Attribute(node.value, node.attr, ast.Load()), node)
    assert isinstance(node, ast.Subscript)
    return ast.copy_location(ast.Subscript(node.value, node.slice, ast.Load()), node)


def leaves(target: ast.expr) -> Iterator[ast.expr]:
    if isinstance(target, (ast.Tuple, ast.List)):
        for part in target.elts:
            yield from leaves(part)
    else:
        yield target


def stored_in(node: ast.AST) -> list[ast.expr]:
    """The names and attributes a statement stores, without those of the statements in it."""
    found: list[ast.expr] = []
    todo: list[ast.AST] = [node]
    while todo:
        at = todo.pop()
        if isinstance(at, (ast.Name, ast.Attribute)) and isinstance(at.ctx, (ast.Store, ast.Del)):
            found.append(at)
        todo += [child for child in ast.iter_child_nodes(at) if not isinstance(child, (ast.stmt, ast.ExceptHandler))]
    return found


def is_static_mark(node: ast.expr) -> bool:
    """`@staticmethod` only says how the function is reached; the kernel looks at calls."""
    return isinstance(node, ast.Name) and node.id == "staticmethod"


def is_unbound(value: object) -> bool:
    """Whether a value may be that of a name without one."""
    if not isinstance(value, tuple) or not value:
        return False
    return value[0] == "unset" or (value[0] != "const" and any(is_unbound(part) for part in value[1:]))
