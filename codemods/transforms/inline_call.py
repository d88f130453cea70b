"""Which argument of one call goes to which parameter of the function that is inlined there.

Binds as Python does; a call that Python would not take, or whose stars hide what goes where, is refused."""

from __future__ import annotations

import ast
import re

from msgspec import Struct

from codemods.source.parse import Source
from codemods.transforms.inline_body import Forwarder, Kind, Parameter
from codemods.transforms.layout import argument_brackets

_BLANKS = re.compile(rb"(?:\s|\\\r?\n|#[^\r\n]*)*")


class Argument(Struct, frozen=True, eq=False):
    """What one parameter gets. node: the expression, of the call or (is_default) of the definition. start:end: its text
    with the brackets it stands in. keyword: the word before it in the call, "" for a positional one."""

    node: ast.expr
    start: int
    end: int
    keyword: str = ""
    is_default: bool = False


class Bound(Struct, frozen=True, eq=False):
    """`given` in the order in which the call evaluates them, the receiver first; several for one star parameter.
    defaults: parameters that the call leaves out."""

    given: tuple[tuple[str, Argument], ...]
    defaults: tuple[tuple[str, Argument], ...]

    def of(self, name: str) -> list[Argument]:
        return [each for other, each in (*self.given, *self.defaults) if other == name]


class CannotBind(Exception):
    """The call does not tell, or gets wrong, what goes where. `code` as in a refusal."""

    def __init__(self, code: str, message: str) -> None:
        super().__init__(message)
        self.code, self.message = code, message


def bind(source: Source, call: ast.Call, forwarder: Forwarder, receiver: ast.expr | None) -> Bound:
    """receiver: the expression that the method is called on; None where the object is the first argument, or there is
    none. Raises CannotBind."""
    slots = dict(_slots(source, call))
    given: list[tuple[str, Argument]] = []
    parameters = list(forwarder.parameters)
    if forwarder.receiver:
        if receiver is not None:
            span = source.start(receiver), source.end(receiver)
            given.append((forwarder.receiver, Argument(receiver, *span)))
        else:
            parameters.insert(0, Parameter(forwarder.receiver, Kind.EITHER, None))
    taken: set[str] = set()
    positional = [each for each in parameters if each.kind in (Kind.POSITIONAL, Kind.EITHER)]
    rest = next((each.name for each in parameters if each.kind is Kind.REST), "")
    for index, node in enumerate(call.args):
        is_star = isinstance(node, ast.Starred)
        if index < len(positional) and not is_star:
            name = positional[index].name
            taken.add(name)
        elif rest and index >= len(positional):
            name = rest
        elif is_star:
            raise CannotBind("star-arguments", f"{ast.unparse(node)} hides which parameters it fills")
        else:
            raise CannotBind("U121", f"the call has more arguments than {forwarder.function.name} takes")
        given.append((name, Argument(node, *slots[node])))
    _bind_keywords(call, parameters, given, taken, slots)
    return Bound(tuple(given), tuple(_defaults(forwarder, parameters, taken)))


def _bind_keywords(
    call: ast.Call,
    parameters: list[Parameter],
    given: list[tuple[str, Argument]],
    taken: set[str],
    slots: dict[ast.expr, tuple[int, int]],
) -> None:
    by_keyword = {each.name for each in parameters if each.kind in (Kind.EITHER, Kind.KEYWORD)}
    rest = next((each.name for each in parameters if each.kind is Kind.REST_KEYWORDS), "")
    for keyword in call.keywords:
        name = keyword.arg
        if name is None:
            if not rest or by_keyword - taken:
                raise CannotBind("star-arguments", f"**{ast.unparse(keyword.value)} hides which parameters it fills")
            name = rest
        elif name in taken:
            raise CannotBind("U121", f"{name} is given twice")
        elif name in by_keyword:
            taken.add(name)
        elif rest:
            name = rest
        else:
            raise CannotBind("U121", f"there is no parameter {name}")
        given.append((name, Argument(keyword.value, *slots[keyword.value], keyword=keyword.arg or "")))


def _defaults(forwarder: Forwarder, parameters: list[Parameter], taken: set[str]) -> list[tuple[str, Argument]]:
    found: list[tuple[str, Argument]] = []
    for each in parameters:
        if each.name in taken or each.kind in (Kind.REST, Kind.REST_KEYWORDS):
            continue
        if each.default is None:
            raise CannotBind("U121", f"the call gives no {each.name}")
        span = forwarder.source.start(each.default), forwarder.source.end(each.default)
        if forwarder.uses(each.name) and not is_literal(each.default):
            written = ast.unparse(each.default)
            raise CannotBind("U114", f"the default of {each.name}, {written}, was made when the function was defined")
        found.append((each.name, Argument(each.default, *span, is_default=True)))
    return found


def is_literal(node: ast.expr) -> bool:
    """Whether an expression is a constant that has no identity of its own: a number, text, None, or a tuple of them."""
    if isinstance(node, ast.UnaryOp) and isinstance(node.op, (ast.USub, ast.UAdd)):
        return isinstance(node.operand, ast.Constant)
    if isinstance(node, ast.Tuple):
        return all(is_literal(each) for each in node.elts)
    return isinstance(node, ast.Constant)


def _slots(source: Source, call: ast.Call) -> list[tuple[ast.expr, tuple[int, int]]]:
    """The text of each argument with the brackets that it stands in; without the keyword."""
    nodes: list[ast.expr] = sorted([*call.args, *(each.value for each in call.keywords)], key=source.start)
    brackets = argument_brackets(source, call)
    return [(node, widened(source, node, brackets.open, brackets.close)) for node in nodes]


def widened(source: Source, node: ast.expr, opened: int, closed: int) -> tuple[int, int]:
    """An expression with the brackets it stands in, inside opened:closed."""
    start, end = source.start(node), source.end(node)
    while start > opened:  # a lone generator has the call's own brackets
        before = len(source.body[:start].rstrip()) - 1
        after = _past_blanks(source, end)
        if before <= opened or source.body[before : before + 1] != b"(" or after >= closed:
            break
        if source.body[after : after + 1] != b")":
            break
        start, end = before, after + 1
    return start, end


def _past_blanks(source: Source, at: int) -> int:
    match = _BLANKS.match(source.body, at)
    assert match is not None
    return match.end()
