"""The text of a method without `self`: its body with parameters in place of attributes, its results returned.

Makes edits and texts; whether the change is safe is static_hazards.py's question."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator

from msgspec import Struct

from codemods.schema.hazards import Refusal
from codemods.source.flow import Flow, Kind, attributes, flow_of
from codemods.source.locate import tail_end
from codemods.source.parse import FUNCTIONS, Function, Source
from codemods.source.splice import Edit, with_newline
from codemods.transforms.layout import parameter_brackets
from codemods.transforms.parameters import How, Needs, Parameter
from codemods.transforms.printed_text import keep_printed

_COLON_GAP = re.compile(rb"(?:[ \t\x0c\r\n]|\\(?:\r\n|\n|\r)|#[^\r\n]*)*")


class Results(Struct, frozen=True, kw_only=True):
    """What the function returns. own: the name for the method's own result, "" when it returns nothing; attributes:
    those it wrote, in order. inward: written attributes whose old value comes in as a parameter too."""

    own: str
    attributes: tuple[str, ...]
    inward: frozenset[str] = frozenset()

    @property
    def count(self) -> int:
        return len(self.attributes) + bool(self.own)


class Body(Struct, frozen=True, kw_only=True):
    """Edits inside the method's body, in offsets of its file."""

    edits: tuple[Edit, ...]
    refusals: tuple[Refusal, ...] = ()


def flow_of_method(function: Function, receiver: str) -> Flow:
    """The flow of the method over the attributes of its receiver."""
    return flow_of(function.body, attributes(receiver))


def results_of(function: Function, needs: Needs, flow: Flow, order: tuple[str, ...] | None) -> Results:
    """What has to be returned. order: the plan's `returns` (already known to be the written attributes)."""
    written = tuple(order) if order is not None else tuple(needs.written)
    own = own_result(function) if returns_value(function) else ""
    inward = frozenset(written) & (flow.reads_before_write | (frozenset(written) - flow.definite_at_returns))
    taken = set(needs.written.values())
    while own in taken:
        own = f"{own}_"
    return Results(own=own, attributes=written, inward=inward)


def returns_of(function: Function) -> Iterator[ast.Return]:
    """The return statements of the function itself."""
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


def own_result(function: Function) -> str:
    """The local that every return gives back, else `result`."""
    names = {node.value.id if isinstance(node.value, ast.Name) else "" for node in returns_of(function)}
    return names.pop() if len(names) == 1 and names != {""} else "result"


def body_edits(source: Source, function: Function, needs: Needs, results: Results, flow: Flow) -> Body:
    """Attributes become names, returns carry the written attributes."""
    edits: list[Edit] = []
    for parameter in needs.parameters:
        for use in parameter.uses:
            edits.append(_use_edit(source, parameter, use.node, use.name))
    edits, refusals = keep_printed(source, function, edits)
    if results.attributes:
        locals_ = [needs.written[attribute] for attribute in results.attributes]
        edits += _return_edits(source, function, locals_, results)
        if any(exit_.kind is Kind.END for exit_ in flow.exits):
            edits.append(_final_return(source, function, locals_, results))
    return Body(edits=tuple(edits), refusals=tuple(refusals))


def _use_edit(source: Source, parameter: Parameter, node: ast.expr, name: ast.Name) -> Edit:
    if parameter.how is How.OWNER:
        return Edit(source.start(name), source.end(name), parameter.name.encode())
    text = parameter.name + ("()" if parameter.how is How.LAZY else "")
    at: ast.AST = node
    for _ in range(parameter.path.count(".")):
        at = source.parents[at]
    return Edit(source.start(at), source.end(at), text.encode())


def _return_edits(source: Source, function: Function, locals_: list[str], results: Results) -> list[Edit]:
    edits = []
    for node in returns_of(function):
        tail = ", ".join(locals_)
        if node.value is None:
            text = f" None, {tail}" if results.own else f" {tail}"
            edits.append(Edit(source.end(node), source.end(node), text.encode()))
        elif not results.own:  # an explicit `return None`
            edits.append(Edit(source.start(node.value), source.end(node.value), tail.encode()))
        else:
            bare = isinstance(node.value, (ast.Tuple, ast.Lambda, ast.IfExp, ast.Yield, ast.NamedExpr))
            open_ = bare and source.body[source.start(node.value) : source.start(node.value) + 1] != b"("
            if open_ and not isinstance(node.value, ast.IfExp):
                edits.append(Edit(source.start(node.value), source.start(node.value), b"("))
                edits.append(Edit(source.end(node.value), source.end(node.value), f"), {tail}".encode()))
            else:
                edits.append(Edit(source.end(node), source.end(node), f", {tail}".encode()))
    return edits


def _final_return(source: Source, function: Function, locals_: list[str], results: Results) -> Edit:
    """The path that falls off the end returns too."""
    last = function.body[-1]
    at = tail_end(source, last)
    indent = source.text.indent_at(source.start(function.body[0]))
    values = ", ".join(["None", *locals_] if results.own else locals_)
    glue = b"" if source.body[:at].endswith((b"\n", b"\r")) else b"\n"
    text = glue + indent + b"return " + values.encode() + (b"\n" if not glue else b"")
    return Edit(at, at, with_newline(text, source.text.newline))


def header_colon(source: Source, function: Function) -> int:
    """Offset of the colon that ends the header."""
    at = source.end(function.returns) if function.returns else parameter_brackets(source, function).close + 1
    while True:
        match = _COLON_GAP.match(source.body, at)
        assert match is not None
        at = match.end()
        if source.body[at : at + 1] == b":":
            return at
        at += 1


def is_generator(function: Function) -> bool:
    """Whether the body runs only when it is iterated."""
    stack: list[ast.AST] = list(function.body)
    while stack:
        node = stack.pop()
        if isinstance(node, (ast.Yield, ast.YieldFrom)):
            return True
        if not isinstance(node, (*FUNCTIONS, ast.ClassDef, ast.Lambda)):
            stack.extend(ast.iter_child_nodes(node))
    return False


def docstring_of(function: Function) -> ast.Expr | None:
    """The docstring statement."""
    first = function.body[0]
    is_text = (
        isinstance(first, ast.Expr) and isinstance(first.value, ast.Constant) and isinstance(first.value.value, str)
    )
    return first if is_text and isinstance(first, ast.Expr) else None
