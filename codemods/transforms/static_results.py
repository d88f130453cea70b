"""What a method gives back once it has no `self`: its own result and the attributes it wrote.

Decides what is returned and where; the text of it is static_body.py's and static_calls.py's."""

from __future__ import annotations

import ast
from collections.abc import Iterator

from msgspec import Struct

from codemods.source.flow import Flow, Kind
from codemods.source.parse import FUNCTIONS, Function
from codemods.transforms.parameters import Needs


class Results(Struct, frozen=True, kw_only=True):
    """What the function returns. own: the name for the method's own result, "" when it returns nothing; attributes:
    those it wrote, in order. inward: written attributes whose old value comes in as a parameter too.

    returned: the written attribute that is the method's own result wherever it returns; then `own` is ""."""

    own: str
    attributes: tuple[str, ...]
    inward: frozenset[str] = frozenset()
    returned: str = ""

    @property
    def count(self) -> int:
        return len(self.attributes) + bool(self.own)


def results_of(function: Function, needs: Needs, flow: Flow, order: tuple[str, ...] | None) -> Results:
    """What has to be returned. order: the plan's `returns` (already known to be the written attributes)."""
    written = tuple(order) if order is not None else tuple(needs.written)
    kept = flow.definite_at_returns if flow.leaves_by(Kind.END, Kind.RETURN) else frozenset(written)
    inward = frozenset(written) & (flow.reads_before_write | (frozenset(written) - kept))
    if not returns_value(function):
        return Results(own="", attributes=written, inward=inward)
    returned = _returned_attribute(function, needs, flow)
    if returned in written:
        return Results(own="", attributes=written, inward=inward, returned=returned)
    own = _own_result(function)
    while own in needs.written.values():
        own = f"{own}_"
    return Results(own=own, attributes=written, inward=inward)


def returns_of(function: Function) -> Iterator[ast.Return]:
    """The return statements of the function itself, in no order."""
    stack: list[ast.AST] = list(function.body)
    while stack:
        node = stack.pop()
        if isinstance(node, ast.Return):
            yield node
        elif not isinstance(node, (*FUNCTIONS, ast.ClassDef, ast.Lambda)):
            stack.extend(ast.iter_child_nodes(node))


def returns_value(function: Function) -> bool:
    """Whether some path returns anything but None."""
    values = [node.value for node in returns_of(function) if node.value is not None]
    return any(not (isinstance(value, ast.Constant) and value.value is None) for value in values)


def _own_result(function: Function) -> str:
    """The local that every return gives back, else `result`."""
    names = {node.value.id if isinstance(node.value, ast.Name) else "" for node in returns_of(function)}
    return names.pop() if len(names) == 1 and names != {""} else "result"


def _returned_attribute(function: Function, needs: Needs, flow: Flow) -> str:
    """The one written attribute that every way out gives back; "" when there is none."""
    if flow.leaves_by(Kind.END):
        return ""
    values = [node.value for node in returns_of(function)]
    found = {use.node: use.attribute for use in needs.uses if use.attribute in needs.written and not use.lookup}
    attributes = {found.get(value, "") if value is not None else "" for value in values}
    return attributes.pop() if len(attributes) == 1 else ""


def tail_calls(function: Function, needs: Needs) -> frozenset[ast.Return]:
    """Returns of a call of the method itself: what it returns is already all that has to be returned."""
    passed = {use.node for each in needs.parameters for use in each.uses}
    called = {use.node for use in needs.uses if use.is_called and use.attribute == function.name} - passed
    found = []
    for node in returns_of(function):
        value = node.value.value if isinstance(node.value, ast.Await) else node.value
        if isinstance(value, ast.Call) and value.func in called:
            found.append(node)
    return frozenset(found)


def fresh_name(taken: set[str], wanted: str) -> str:
    """`wanted`, numbered when it is taken."""
    return next(each for each in (wanted, *(f"{wanted}_{number}" for number in range(2, 1000))) if each not in taken)
