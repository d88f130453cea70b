"""Where a call stands and how its results are unpacked there: `self.x = f()`, `n, self.x = f()`, `return n` behind it.

Text only; which results there are is static_results.py's."""

from __future__ import annotations

import ast

from codemods.source.binder import table
from codemods.source.parse import FUNCTIONS, Source
from codemods.source.splice import Edit, with_newline
from codemods.transforms.static_body import is_bracketed
from codemods.transforms.static_results import Results, fresh_name


def cannot_assign(source: Source, call: ast.Call, receiver: ast.expr, results: Results) -> str:
    """Why the results can't be assigned around this call; "" when they can."""
    whole = _whole(source, call)
    statement = source.parents[whole]
    if not isinstance(statement, (ast.Expr, ast.Return, ast.Assign)):
        return "the call is part of a larger expression"
    if isinstance(statement, ast.Assign):
        reason = _bad_target(source, statement, whole, receiver, results)
        if reason:
            return reason
    needs_more_lines = isinstance(statement, ast.Return) or (isinstance(statement, ast.Assign) and not results.own)
    if needs_more_lines and not _stands_alone(source, statement):
        return "the statement shares its line with others"
    return ""


def _whole(source: Source, call: ast.Call) -> ast.expr:
    above = source.parents[call]
    return above if isinstance(above, ast.Await) else call


def _bad_target(source: Source, statement: ast.Assign, whole: ast.expr, receiver: ast.expr, results: Results) -> str:
    if statement.value is not whole or len(statement.targets) != 1:
        return "it is assigned to several targets"
    target = statement.targets[0]
    names = target.elts if isinstance(target, (ast.Tuple, ast.List)) else [target]
    head = source.segment(receiver).decode()
    for each in names:
        if isinstance(each, ast.Name):
            if each.id == head.partition(".")[0]:
                return f"{each.id} is the receiver itself"
        elif isinstance(each, ast.Attribute) and isinstance(each.value, ast.Name) and target is each:
            if source.segment(each.value).decode() == head and each.attr in results.attributes:
                return f"{head}.{each.attr} is one of the results"
        else:
            return "the target would be evaluated before the attributes are assigned"
    return ""


def _stands_alone(source: Source, statement: ast.stmt) -> bool:
    """Whether lines may be added behind the statement, in its block."""
    start, end = source.start(statement), source.end(statement)
    before = source.body[source.text.line_start(start) : start].strip()
    after = source.body[end : source.text.line_end(end)].strip()
    return not before and (not after or after.startswith(b"#"))


def assignment(source: Source, call: ast.Call, targets: list[str], results: Results, is_recursion: bool) -> list[Edit]:
    """The edits around a call whose results are assigned to `targets`."""
    whole = _whole(source, call)
    statement = source.parents[whole]
    if not targets or (is_recursion and isinstance(statement, ast.Return)):
        return []
    assert isinstance(statement, (ast.Expr, ast.Return, ast.Assign))
    start = source.start(statement)
    back = targets[results.attributes.index(results.returned)] if results.returned else "None"
    if isinstance(statement, ast.Expr):
        names = [_unused(source), *targets] if results.own else targets
        return [Edit(start, start, f"{', '.join(names)} = ".encode())]
    if isinstance(statement, ast.Assign):
        target = statement.targets[0]
        own = source.segment(target).decode()
        end = source.end(target)
        if results.own:
            is_several = isinstance(target, ast.Tuple) and not is_bracketed(source.segment(target))
            own = f"({own})" if is_several else own
            return [Edit(start, end, ", ".join([own, *targets]).encode())]
        return [Edit(start, end, ", ".join(targets).encode()), _behind(source, statement, f"{own} = {back}")]
    assert statement.value is not None
    own = fresh_name(_names_around(source, call), results.own) if results.own else back
    head = [own, *targets] if results.own else targets
    return [
        Edit(start, source.start(whole), f"{', '.join(head)} = ".encode()),
        _behind(source, statement, f"return {own}"),
    ]


def _behind(source: Source, statement: ast.stmt, text: str) -> Edit:
    """A line under the statement."""
    end = source.end(statement)
    at = source.text.line_end(end - 1)
    indent = source.text.indent_at(source.start(statement))
    line = indent + text.encode()
    has_newline = source.body[:at].endswith((b"\n", b"\r"))
    return Edit(at, at, with_newline(line + b"\n" if has_newline else b"\n" + line, source.text.newline))


def _unused(source: Source) -> str:
    """A name for a result that nobody wants; `_` unless the file reads `_`, as translations do."""
    is_read = any(each.role.value == "load" for each in table(source).named("_"))
    return "_result" if is_read else "_"


def _names_around(source: Source, call: ast.Call) -> set[str]:
    """Names that the function around the call uses."""
    function = source.enclosing(call, *FUNCTIONS)
    start, end = (source.start(function), source.end(function)) if function is not None else (0, len(source.body))
    return {each.name for each in table(source).between(start, end)}
