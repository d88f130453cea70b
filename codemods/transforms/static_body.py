"""The text of a method without `self`: its body with parameters in place of attributes, its results returned.

Makes edits and texts; whether the change is safe is static_hazards.py's question."""

from __future__ import annotations

import ast
import re

from msgspec import Struct

from codemods.schema.hazards import Refusal
from codemods.source.flow import Flow, Kind, flow_of
from codemods.source.kept_text import keep_printed
from codemods.source.locate import tail_end
from codemods.source.parse import DEFINITIONS, FUNCTIONS, Function, Source
from codemods.source.splice import Edit, with_newline
from codemods.source.usage import Use, attributes_of
from codemods.transforms.layout import indent_unit, parameter_brackets
from codemods.transforms.parameters import How, Needs, Parameter
from codemods.transforms.static_results import Results, returns_of, tail_calls

_COLON_GAP = re.compile(rb"(?:[ \t\x0c\r\n]|\\(?:\r\n|\n|\r)|#[^\r\n]*)*")


class Body(Struct, frozen=True, kw_only=True):
    """Edits inside the method's body, in offsets of its file."""

    edits: tuple[Edit, ...]
    refusals: tuple[Refusal, ...] = ()


def flow_of_method(function: Function, needs: Needs) -> Flow:
    """The flow of the method over the attributes of its receiver."""
    return flow_of(function.body, attributes_of(needs.receiver, needs.uses))


def body_edits(source: Source, function: Function, needs: Needs, results: Results, flow: Flow) -> Body:
    """Attributes become names, returns carry the written attributes."""
    edits: list[Edit] = []
    for parameter in needs.parameters:
        for use in parameter.uses:
            if not _is_under(source, use, parameter.alias) and not _is_returned(source, function, use, results):
                edits.append(_use_edit(source, parameter, use))
    kept = keep_printed(source, [(edit.start, edit.end) for edit in edits])
    edits += kept.edits
    edits += [_without(source, function, each.alias) for each in needs.parameters if each.alias is not None]
    if results.attributes:
        locals_ = [needs.written[attribute] for attribute in results.attributes]
        edits += _return_edits(source, function, needs, locals_, results)
        if flow.leaves_by(Kind.END):
            edits.append(_final_return(source, function, locals_, results))
    return Body(edits=tuple(edits), refusals=tuple(unkept(source, at) for at in kept.unkept))


def _is_under(source: Source, use: Use, statement: ast.stmt | None) -> bool:
    return statement is not None and source.statement_of(use.node) is statement


def _is_returned(source: Source, function: Function, use: Use, results: Results) -> bool:
    """`return self.x` whose text is replaced as a whole."""
    above = source.parents[use.node]
    is_own = isinstance(above, ast.Return) and use.attribute == results.returned and use.node is above.value
    return is_own and any(each is above for each in returns_of(function))


def _use_edit(source: Source, parameter: Parameter, use: Use) -> Edit:
    if parameter.how is How.OWNER:
        return Edit(source.start(use.name), source.end(use.name), parameter.name.encode())
    text = parameter.name + ("()" if parameter.how is How.LAZY else "")
    at: ast.AST = use.node
    for _ in range(parameter.path.count(".")):
        at = source.parents[at]
    start = source.start(at)
    before = source.body[start - 1 : start]
    if before.isalnum() or before == b"_":  # `return(self).x`
        text = f" {text}"
    return Edit(start, source.end(at), text.encode())


def unkept(source: Source, at: int) -> Refusal:
    text = source.body[at : source.body.index(b"=", at) + 1].decode("utf-8", "replace")
    return Refusal(
        code="printed-text",
        path=source.path,
        line=source.text.line_of(at),
        message=f"{text}}} prints its own source text, which can't be kept as literal text in this string",
        settle="write the text out by hand first",
    )


def _without(source: Source, function: Function, statement: ast.stmt) -> Edit:
    """The line goes; a comment on it stays, and so does one of two blank lines around it."""
    start = source.text.line_start(source.start(statement))
    end = source.text.line_end(source.end(statement) - 1)
    behind = source.body[source.end(statement) : end]
    if behind.strip().startswith(b"#"):
        return Edit(source.start(statement), source.end(statement) + len(behind) - len(behind.lstrip(b" \t")), b"")
    above = source.body[source.text.line_start(start - 1) : start]
    is_first = statement is function.body[0]
    while is_first or not above.strip():
        line = source.body[end : source.text.line_end(end)]
        if line.strip() or not line:
            break
        end += len(line)
    return Edit(start, end, b"")


def _return_edits(source: Source, function: Function, needs: Needs, locals_: list[str], results: Results) -> list[Edit]:
    edits = []
    tail = ", ".join(locals_)
    complete = tail_calls(function, needs)
    for node in returns_of(function):
        if node in complete:
            continue
        if node.value is None:
            text = f" None, {tail}" if results.own else f" {tail}"
            edits.append(Edit(source.end(node), source.end(node), text.encode()))
        elif not results.own:  # an explicit `return None`, or one of the attributes
            edits.append(Edit(source.start(node) + len(b"return"), source.end(node), f" {tail}".encode()))
        elif _needs_brackets(source, node.value):
            edits.append(Edit(source.start(node.value), source.start(node.value), b"("))
            edits.append(Edit(source.end(node.value), source.end(node.value), f"), {tail}".encode()))
        else:
            edits.append(Edit(source.end(node), source.end(node), f", {tail}".encode()))
    return edits


def _needs_brackets(source: Source, value: ast.expr) -> bool:
    """A value in which a comma behind it would not mean what it says."""
    if isinstance(value, ast.Tuple):
        return not is_bracketed(source.segment(value))
    before = source.body[: source.start(value)].rstrip()
    return isinstance(value, (ast.Lambda, ast.Yield, ast.YieldFrom, ast.IfExp)) and not before.endswith(b"(")


def is_bracketed(text: bytes) -> bool:
    """Whether the brackets at both ends of a tuple's text belong together: not in `(a), (b)`."""
    if not (text.startswith(b"(") and text.endswith(b")")):
        return False
    try:
        ast.parse(b"[" + text[1:-1] + b"]", mode="eval")
    except SyntaxError:
        return False
    return True


def _final_return(source: Source, function: Function, locals_: list[str], results: Results) -> Edit:
    """The path that falls off the end returns too."""
    last = function.body[-1]
    at = tail_end(source, last)
    values = ", ".join(["None", *locals_] if results.own else locals_)
    glue = b"" if source.body[:at].endswith((b"\n", b"\r")) else b"\n"
    gap = b"\n" if isinstance(last, DEFINITIONS) else b""
    text = glue + gap + body_indent(source, function) + b"return " + values.encode() + (b"\n" if not glue else b"")
    return Edit(at, at, with_newline(text, source.text.newline))


# -- the shape of the function


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


def is_on_header_line(source: Source, function: Function) -> bool:
    """`def f(self): return 1`."""
    return source.text.line_of(header_colon(source, function)) == source.text.line_of(source.start(function.body[0]))


def body_indent(source: Source, function: Function) -> bytes:
    """The indentation of the body, also of one that has no lines of its own yet."""
    if is_on_header_line(source, function):
        return source.text.indent_at(source.start(function)) + indent_unit(source)
    return source.text.indent_at(source.start(function.body[0]))


def unfolded(source: Source, function: Function) -> list[Edit]:
    """Edits that give each statement behind the header a line of its own."""
    line = with_newline(b"\n", source.text.newline) + body_indent(source, function)
    edits = [Edit(header_colon(source, function) + 1, source.start(function.body[0]), line)]
    for before, after in zip(function.body, function.body[1:], strict=False):
        edits.append(Edit(source.end(before), source.start(after), line))
    return edits


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
