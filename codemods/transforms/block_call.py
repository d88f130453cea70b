"""What stands in the place of a block or expression: the call of the new function, its results assigned or returned."""

from __future__ import annotations

import ast
from collections.abc import Mapping, Sequence

from codemods.source.fstrings import outermost
from codemods.source.splice import Edit
from codemods.transforms.block_check import Ending
from codemods.transforms.block_find import Part
from codemods.transforms.block_globals import declared_for_the_rest
from codemods.transforms.block_host import Host
from codemods.transforms.block_text import call_lines, lines_text
from codemods.transforms.layout import argument_brackets, indent_unit


def call_edit(
    host: Host,
    part: Part,
    ending: Ending,
    callee: str,
    arguments: Sequence[str],
    *,
    prefix: str,
    results: tuple[str, ...],
    types: Mapping[str, str],
) -> Edit:
    """The edit that puts the call there. types: annotations that the call carries for its one result."""
    if part.expression is not None:
        return _in_expression(host, part.expression, callee, arguments, prefix)
    source = host.source
    indent = source.text.indent_at(source.start(part.statements[0])).decode()
    before, after = prefix, ""
    if ending is Ending.RETURN:
        before, after = (f"return ({prefix}", ")") if prefix == "yield from " else (f"return {prefix}", "")
    elif results:
        annotation = types.get(results[0], "") if len(results) == 1 else ""
        target = f"{results[0]}: {annotation}" if annotation else ", ".join(results)
        before = f"{target} = {prefix}"
    unit = indent_unit(source).decode()
    lines = call_lines(before, callee, arguments, after, indent, unit, host.files.line_length)
    declared = declared_for_the_rest(host, part)
    ready = [f"{indent}global {', '.join(declared)}"] if declared else []
    ready += [indent + lines[0], *lines[1:]]
    ready += [f"{indent}return"] if ending is Ending.CALL_RETURN else []
    made = lines_text(ready, source.text.newline)
    if not source.body[part.start : part.end].endswith((b"\n", b"\r")):
        made = made.removesuffix(source.text.newline)
    return Edit(part.start, part.end, made)


def _in_expression(host: Host, node: ast.expr, callee: str, arguments: Sequence[str], prefix: str) -> Edit:
    source = host.source
    above = source.parents[node]
    start, end = source.start(node), source.end(node)
    before, after = "", ""
    is_bracketed = source.body[start - 1 : start] == b"(" and source.body[end : end + 1] == b")"
    if prefix and _binds_tighter(above, node) and not is_bracketed:
        before, after = "(", ")"
    if isinstance(above, ast.Call) and isinstance(node, ast.GeneratorExp):
        is_bare = argument_brackets(source, above).open == start  # the generator's brackets are the call's
        before, after = (f"({before}", f"{after})") if is_bare else (before, after)
    before = " " * (_is_word(source.body[start - 1 : start]) and not before) + before
    after += " " * (_is_word(source.body[end : end + 1]) and not after)
    indent = source.text.indent_at(start).decode()
    column = len(source.body[source.text.line_start(start) + len(indent) : start].decode())
    tail = source.body[end : source.text.line_end(end)].strip().decode()
    in_string = any(node in list(ast.walk(each)) for each in outermost(host.function))
    room = 10**6 if in_string else host.files.line_length - column - len(tail)
    unit = indent_unit(source).decode()
    lines = call_lines(before + prefix, callee, arguments, after, indent, unit, room)
    return Edit(start, end, lines_text(lines, source.text.newline).rstrip(b"\r\n"))


def _binds_tighter(above: ast.AST, node: ast.expr) -> bool:
    """Whether `await f()` there would be torn apart."""
    if isinstance(above, ast.Call):
        return above.func is node
    is_power = isinstance(above, ast.BinOp) and isinstance(above.op, ast.Pow) and above.left is node
    return is_power or isinstance(above, ast.Attribute) or (isinstance(above, ast.Subscript) and above.value is node)


def _is_word(char: bytes) -> bool:
    return char.isalnum() or char == b"_" or char >= b"\x80"
