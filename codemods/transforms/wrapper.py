"""The same-named method that stays and calls the function: its own text, and the header the function gets.

Decorators, comments, signature and docstring stay with the method; the body goes on under a new header."""

from __future__ import annotations

import ast

from codemods.source.parse import Function, Source
from codemods.source.splice import Edit, with_newline
from codemods.transforms.layout import exploded_lines, indent_unit, parameter_items, with_keywords
from codemods.transforms.parameters import Needs
from codemods.transforms.static_body import (
    Results,
    docstring_of,
    header_colon,
    is_generator,
    returns_value,
)
from codemods.transforms.static_calls import passed


def wrapper_edit(
    source: Source, function: Function, callee: str, name: str, needs: Needs, results: Results, line_length: int
) -> Edit:
    """One insertion between the method's header and its body: the wrapper's body, then the new static header."""
    colon = header_colon(source, function)
    first = function.body[0]
    is_one_line = source.text.line_of(colon) == source.text.line_of(source.start(first))
    at = source.start(first) if is_one_line else source.text.line_end(colon)
    outer = source.text.indent_at(source.start(function))
    inner = outer + indent_unit(source)
    docstring = docstring_of(function)
    lines: list[bytes] = []
    if docstring is not None:
        lines.append(inner + source.segment(docstring))
    body = wrapper_statements(function, callee, needs, results)
    text = "\n".join(_laid_out(body, inner.decode(), line_length))
    lines.append(text.encode())
    lines += [b"", outer + b"@staticmethod", *_header(source, function, name, needs, results, line_length)]
    joined = b"\n".join(lines) + b"\n"
    start = at
    if is_one_line:
        start = colon + 1
        joined = b"\n" + joined + inner
    return Edit(start, at, with_newline(joined, source.text.newline))


def wrapper_statements(
    function: Function, callee: str, needs: Needs, results: Results
) -> list[tuple[str, str, list[str]]]:
    """Each statement as (text before the call, callee, arguments); one without arguments has an empty callee."""
    arguments = [
        *forwarded(function),
        *(f"{each.name}={each.argument(needs.receiver)}" for each in passed(needs, results)),
    ]
    double_star = [argument for argument in arguments if argument.startswith("**")]
    arguments = [argument for argument in arguments if argument not in double_star] + double_star
    awaited = "await " if isinstance(function, ast.AsyncFunctionDef) and not is_generator(function) else ""
    targets = [f"{needs.receiver}.{attribute}" for attribute in results.attributes]
    if is_generator(function):
        return [("return (yield from " if returns_value(function) else "yield from ", callee, arguments)]
    if targets:
        names = [results.own, *targets] if results.own else targets
        found = [(f"{', '.join(names)} = {awaited}", callee, arguments)]
        return [*found, (f"return {results.own}", "", [])] if results.own else found
    return [(f"return {awaited}" if returns_value(function) else awaited, callee, arguments)]


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


def _laid_out(statements: list[tuple[str, str, list[str]]], indent: str, line_length: int) -> list[str]:
    lines: list[str] = []
    unit = indent[: len(indent) // 2] or "    "
    for before, callee, arguments in statements:
        if not callee:
            lines.append(indent + before)
            continue
        close = "))" if before.startswith("return (yield") else ")"
        one = f"{indent}{before}{callee}({', '.join(arguments)}{close}"
        if len(one) <= line_length or not arguments:
            lines.append(one)
            continue
        lines += _broken_targets(before, indent, unit, callee, line_length)
        lines += exploded_lines(arguments, indent + unit, line_length)
        lines.append(f"{indent}{close}")
    return lines


def _broken_targets(before: str, indent: str, unit: str, callee: str, line_length: int) -> list[str]:
    """`a, self.b = f(`, the targets in brackets of their own when the line would be too long."""
    line = f"{indent}{before}{callee}("
    targets, equals, rest = before.partition(" = ")
    if len(line) <= line_length or not equals or "," not in targets:
        return [line]
    items = [f"{indent}{unit}{target}," for target in targets.split(", ")]
    return [f"{indent}(", *items, f"{indent}) = {rest}{callee}("]


def _header(
    source: Source, function: Function, name: str, needs: Needs, results: Results, line_length: int
) -> list[bytes]:
    """`def name(…):` of the function; no defaults, because the wrapper passes every argument."""
    items = [_without_default(item) for item in parameter_items(source, function, skip_first=True)]
    items = with_keywords(items, [each.declared() for each in passed(needs, results)])
    outer = source.text.indent_at(source.start(function)).decode()
    keyword = "async def" if isinstance(function, ast.AsyncFunctionDef) else "def"
    types = _type_parameters(source, function)
    end = f" -> {source.segment(function.returns).decode()}:" if function.returns and not results.attributes else ":"
    one = f"{outer}{keyword} {name}{types}({', '.join(items)}){end}"
    if len(one) <= line_length:
        return [one.encode()]
    unit = indent_unit(source).decode()
    exploded = exploded_lines(items, outer + unit, line_length)
    return [
        f"{outer}{keyword} {name}{types}(".encode(),
        *(line.encode() for line in exploded),
        f"{outer}){end}".encode(),
    ]


def _without_default(item: str) -> str:
    """`n: int = 3` -> `n: int`. Parsed, because an annotation or a default may hold an `=` of its own."""
    if item in ("/", "*"):
        return item
    arguments = ast.parse(f"def f({item}): pass").body[0]
    assert isinstance(arguments, ast.FunctionDef)
    if not (arguments.args.defaults or [each for each in arguments.args.kw_defaults if each]):
        return item
    argument = arguments.args.args[0]
    end = (argument.end_col_offset or 0) - len("def f(")
    return item.encode()[:end].decode()


def _type_parameters(source: Source, function: Function) -> str:
    parameters = getattr(function, "type_params", [])
    if not parameters:
        return ""
    return f"[{', '.join(source.segment(each).decode() for each in parameters)}]"
