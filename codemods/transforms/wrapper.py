"""The same-named method that stays and calls the function: its own text, and the header the function gets.

Decorators, comments, signature and docstring stay with the method; the body goes on under a new header."""

from __future__ import annotations

import ast

from msgspec import Struct

from codemods.source.parse import Function, Source
from codemods.source.splice import Edit, with_newline
from codemods.transforms.layout import exploded_lines, indent_unit
from codemods.transforms.parameters import Needs
from codemods.transforms.static_body import (
    body_indent,
    docstring_of,
    header_colon,
    is_generator,
    is_on_header_line,
)
from codemods.transforms.static_calls import passed
from codemods.transforms.static_receiver import Receiver
from codemods.transforms.static_results import Results, returns_value


class Wrapped(Struct, frozen=True, kw_only=True, eq=False):
    """A method that stays, and the static one behind it: callee is how the method calls it, name its own name.

    result: the annotation of what it returns, "" for none."""

    source: Source
    function: Function
    callee: str
    name: str
    needs: Needs
    results: Results
    line_length: int
    result: str = ""

    @property
    def outer(self) -> str:
        return self.source.text.indent_at(self.source.start(self.function)).decode()

    @property
    def inner(self) -> str:
        return body_indent(self.source, self.function).decode()


def wrapper_edits(wrapped: Wrapped) -> list[Edit]:
    """Between the method's header and its body: the method's new body, then the static header.

    Both have the docstring: the method must go on showing it, and the function needs one."""
    source, function = wrapped.source, wrapped.function
    colon = header_colon(source, function)
    docstring = docstring_of(function)
    lines = [wrapped.inner + source.segment(docstring).decode()] if docstring is not None else []
    lines += [*_laid_out(wrapper_statements(wrapped), wrapped), "", f"{wrapped.outer}@staticmethod", *_header(wrapped)]
    newline = source.text.newline
    if is_on_header_line(source, function):
        text = "\n" + "\n".join(lines) + "\n" + wrapped.inner
        return [Edit(colon + 1, source.start(function.body[0]), with_newline(text.encode(), newline))]
    at = source.text.line_end(colon)
    return [Edit(at, at, with_newline(("\n".join(lines) + "\n").encode(), newline))]


def wrapper_statements(wrapped: Wrapped) -> list[tuple[str, list[str], str]]:
    """Each statement as (text up to the arguments, arguments, text behind them)."""
    function, needs, results = wrapped.function, wrapped.needs, wrapped.results
    held = Receiver(text=needs.receiver)
    arguments = forwarded(function)
    own = [f"{each.name}={each.argument(held)}" for each in passed(needs, results)]
    double_star = [argument for argument in arguments if argument.startswith("**")]
    arguments = [argument for argument in arguments if argument not in double_star] + own + double_star
    targets = [f"{needs.receiver}.{attribute}" for attribute in results.attributes]
    callee = wrapped.callee
    is_async = isinstance(function, ast.AsyncFunctionDef)
    if is_generator(function) and is_async:
        return [("async for item in " + callee + "(", arguments, "):"), (f"{_unit(wrapped)}yield item", [], "")]
    how = "yield from " if is_generator(function) else "await " if is_async else ""
    gives_back = returns_value(function)
    if targets:
        names = [results.own, *targets] if results.own else targets
        found = [(f"{', '.join(names)} = {how}{callee}(", arguments, ")")]
        back = f"{needs.receiver}.{results.returned}" if results.returned else results.own
        return [*found, (f"return {back}", [], "")] if back else found
    if is_generator(function) and gives_back:
        return [(f"return (yield from {callee}(", arguments, "))")]
    return [(f"return {how}{callee}(" if gives_back else f"{how}{callee}(", arguments, ")")]


def _unit(wrapped: Wrapped) -> str:
    return indent_unit(wrapped.source).decode()


def forwarded(function: Function) -> list[str]:
    """The method's own parameters, passed on."""
    arguments = function.args
    positional = [*arguments.posonlyargs, *arguments.args][1:]
    found = [each.arg for each in positional]
    if arguments.vararg:
        found.append(f"*{arguments.vararg.arg}")
    found += [f"{each.arg}={each.arg}" for each in arguments.kwonlyargs]
    if arguments.kwarg:
        found.append(f"**{arguments.kwarg.arg}")
    return found


def _laid_out(statements: list[tuple[str, list[str], str]], wrapped: Wrapped) -> list[str]:
    lines: list[str] = []
    indent, unit = wrapped.inner, _unit(wrapped)
    for before, arguments, behind in statements:
        one = f"{indent}{before}{', '.join(arguments)}{behind}"
        if len(one) <= wrapped.line_length or not arguments:
            lines.append(one)
            continue
        *targets, head = _broken_targets(before, wrapped)
        lines += targets
        closed = f"{head}{', '.join(arguments)}{behind}"
        if targets and len(closed) <= wrapped.line_length:
            lines.append(closed)
            continue
        lines.append(head)
        lines += exploded_lines(arguments, indent + unit, wrapped.line_length)
        lines.append(f"{indent}{behind}")
    return lines


def _broken_targets(before: str, wrapped: Wrapped) -> list[str]:
    """`a, self.b = f(`, the targets in brackets of their own when the line would be too long."""
    indent, unit = wrapped.inner, _unit(wrapped)
    line = f"{indent}{before}"
    targets, equals, rest = before.partition(" = ")
    if len(line) <= wrapped.line_length or not equals or "," not in targets:
        return [line]
    items = [f"{indent}{unit}{target}," for target in targets.split(", ")]
    return [f"{indent}(", *items, f"{indent}) = {rest}"]


def _header(wrapped: Wrapped) -> list[str]:
    """`def name(…):` of the function; no defaults, because the wrapper passes every argument."""
    source, function = wrapped.source, wrapped.function
    items = _parameters(wrapped)
    keyword = "async def" if isinstance(function, ast.AsyncFunctionDef) else "def"
    types = _type_parameters(source, function)
    end = f" -> {wrapped.result}:" if wrapped.result else ":"
    one = f"{wrapped.outer}{keyword} {wrapped.name}{types}({', '.join(items)}){end}"
    if len(one) <= wrapped.line_length and "\n" not in one:
        return [one]
    exploded = exploded_lines(items, wrapped.outer + _unit(wrapped), wrapped.line_length)
    return [f"{wrapped.outer}{keyword} {wrapped.name}{types}(", *exploded, f"{wrapped.outer}){end}"]


def _parameters(wrapped: Wrapped) -> list[str]:
    """The method's own parameters without their defaults, then the new ones."""
    source, arguments = wrapped.source, wrapped.function.args

    def text(argument: ast.arg) -> str:
        return source.segment(argument).decode()

    first = 1 if arguments.posonlyargs else 0
    items = [text(each) for each in arguments.posonlyargs[first:]]
    items += ["/"] if items else []
    items += [text(each) for each in arguments.args[1 - first :]]
    keywords = [
        *(text(each) for each in arguments.kwonlyargs),
        *(each.declared() for each in passed(wrapped.needs, wrapped.results)),
    ]
    if arguments.vararg:
        items.append(f"*{text(arguments.vararg)}")
    elif keywords:
        items.append("*")
    items += keywords
    return [*items, f"**{text(arguments.kwarg)}"] if arguments.kwarg else items


def _type_parameters(source: Source, function: Function) -> str:
    parameters = getattr(function, "type_params", [])
    if not parameters:
        return ""
    return f"[{', '.join(source.segment(each).decode() for each in parameters)}]"
