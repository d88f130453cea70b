"""The text of a move: what is cut with a definition, what stays in its place, and where it is pasted. Bytes only."""

from __future__ import annotations

import ast

from codemods.source.locate import head_start, is_main_guard, tail_end
from codemods.source.parse import DEFINITIONS, Source
from codemods.source.splice import Edit, with_newline


def cut(source: Source, start: int, end: int, node: ast.AST, stays: bytes = b"") -> Edit:
    """Takes the lines start:end out, with the blank lines that held them apart; `stays` takes their place."""
    if stays:
        return Edit(start, end, stays)
    parent = source.parents[node]
    is_first = not source.body[:start].strip()
    for name in ("body", "orelse", "finalbody"):
        block = getattr(parent, name, None)
        if not isinstance(block, list) or node not in block or isinstance(parent, ast.Module):
            continue
        if block == [node]:
            indent = source.text.indent_at(source.start(node))
            return Edit(start, end, with_newline(indent + b"pass\n", source.text.newline))
        is_first = block[0] is node
    before, after = _blanks_before(source, start), _blanks_after(source, end)
    if after >= len(source.body):
        return Edit(before, len(source.body), b"")  # a file without a last newline: as_it_ended() of move_write.py
    if after - end > start - before and not is_first:
        return Edit(before, end, b"")
    return Edit(start, after, b"")


def _blanks_before(source: Source, at: int) -> int:
    """Offset of the first of the blank lines above. One that a backslash joins to the statement above is not blank, nor
    is one that holds a form feed."""
    first = at
    while first > 0:
        above = source.text.line_start(first - 1)
        if source.body[above:first].strip(b" \t\r\n"):
            break
        first = above
    is_joined = source.body[:first].rstrip(b"\r\n").endswith(b"\\") and first > 0
    return source.text.line_end(first) if is_joined and first < at else first


def _blanks_after(source: Source, at: int) -> int:
    while at < len(source.body) and not source.body[at : source.text.line_end(at)].strip(b" \t\r\n"):
        at = source.text.line_end(at)
    return at


def paste(
    target: Source, text: bytes, *, has_head: bool, is_tight: bool = False, above: ast.stmt | None = None
) -> Edit:
    """At the end of the target, or above a statement (by default its `if __name__ == "__main__":`).

    has_head: other edits put something at the top of a file that is empty so far. is_tight: one blank line is enough
    between imports and the text."""
    newline = target.text.newline
    above = above or next((each for each in target.tree.body if is_main_guard(each)), None)
    body = target.body
    if above is not None:
        at = head_start(target, above)
        num_above = _num_blanks(target, at)
        gap = b"\n" * max(0, 2 - num_above) if body[:at].strip() else b""
        return Edit(at, at, with_newline(gap + text + b"\n\n", newline))
    end = len(body.rstrip(b" \t\r\n"))
    end = target.text.line_end(end - 1) if end else 0
    if end and body[:end].rstrip(b"\r\n").endswith(b"\\"):
        end = target.text.line_end(end)  # the blank line that ends a joined one
    is_open = bool(body) and not body.endswith((b"\n", b"\r"))
    glue = b"" if not end or body[:end].endswith((b"\n", b"\r")) else b"\n"
    last = target.tree.body[-1] if target.tree.body else None
    is_below_imports = last is None or isinstance(last, (ast.Import, ast.ImportFrom))
    apart = (b"\n" if is_tight and is_below_imports else b"\n\n") if end or has_head else b""
    whole = with_newline(glue + apart + text, newline)
    return Edit(end, len(body), whole.rstrip(b"\r\n") if is_open else whole)


def _num_blanks(source: Source, at: int) -> int:
    """How many blank lines stand directly above an offset."""
    first = _blanks_before(source, at)
    return len(source.body[first:at].splitlines())


def paste_constant(target: Source, text: bytes) -> Edit | None:
    """Below the imports and the constants under them; None when the file has no such head, or nothing below it."""
    last: ast.stmt | None = None
    for statement in target.tree.body:
        if isinstance(statement, (*DEFINITIONS, ast.Expr)) and not _is_docstring(target, statement):
            break
        if isinstance(statement, (ast.Assign, ast.AnnAssign)) and not _is_dunder(statement):
            last = statement
        elif not isinstance(statement, (ast.Import, ast.ImportFrom)) and not _is_docstring(target, statement):
            break
    if last is None or last is target.tree.body[-1]:
        return None
    at = tail_end(target, last)
    gap = b"\n" if text.startswith(b"#") else b""
    return Edit(at, at, with_newline(gap + text, target.text.newline))


def _is_docstring(target: Source, statement: ast.stmt) -> bool:
    is_first = statement is target.tree.body[0]
    return is_first and isinstance(statement, ast.Expr) and isinstance(statement.value, ast.Constant)


def _is_dunder(statement: ast.Assign | ast.AnnAssign) -> bool:
    node = statement.targets[0] if isinstance(statement, ast.Assign) else statement.target
    return isinstance(node, ast.Name) and node.id.startswith("__")


def above_class(source: Source, owner: ast.stmt, text: bytes) -> Edit:
    """In the same module: directly above the class the method leaves."""
    top: ast.AST = owner
    while not isinstance(source.parents[top], ast.Module):
        top = source.parents[top]
    assert isinstance(top, ast.stmt)
    at = head_start(source, top)
    return Edit(at, at, with_newline(text + b"\n\n", source.text.newline))


def with_plain_newlines(source: Source, text: bytes) -> bytes:
    """Text cut from a file, with \\n at the end of its lines."""
    return text if source.text.newline == b"\n" else text.replace(b"\r\n", b"\n").replace(b"\r", b"\n")
