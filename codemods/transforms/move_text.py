"""The text of a move: what is cut with a definition, what stays in its place, and where it is pasted. Bytes only."""

from __future__ import annotations

import ast

from codemods.source.locate import head_start, is_shebang
from codemods.source.parse import Source
from codemods.source.splice import Edit, with_newline


def cut(source: Source, start: int, end: int, node: ast.AST, stays: bytes = b"") -> Edit:
    """Takes the lines start:end out, with the blank lines that held them apart; `stays` takes their place."""
    if stays:
        return Edit(start, end, stays)
    parent = source.parents[node]
    for name in ("body", "orelse", "finalbody"):
        block = getattr(parent, name, None)
        if isinstance(block, list) and block == [node] and not isinstance(parent, ast.Module):
            indent = source.text.indent_at(source.start(node))
            return Edit(start, end, with_newline(indent + b"pass\n", source.text.newline))
    before, after = _blanks_before(source, start), _blanks_after(source, end)
    is_last = after >= len(source.body)
    is_first = before == start
    if is_last or (not is_first and after - end > start - before):
        return Edit(before, end if not is_last else len(source.body), b"")
    return Edit(start, after, b"")


def _blanks_before(source: Source, at: int) -> int:
    while at > 0:
        above = source.text.line_start(at - 1)
        if source.body[above:at].strip():
            return at
        at = above
    return at


def _blanks_after(source: Source, at: int) -> int:
    while at < len(source.body) and not source.body[at : source.text.line_end(at)].strip():
        at = source.text.line_end(at)
    return at


def paste(target: Source, text: bytes, *, has_head: bool) -> Edit:
    """At the end of the target, or above its `if __name__ == "__main__":`; two blank lines around.

    has_head: other edits put something at the top of a file that is empty so far."""
    newline = target.text.newline
    guard = _main_guard(target)
    body = target.body
    if guard is not None:
        at = head_start(target, guard)
        return Edit(at, at, with_newline(text + b"\n\n", newline))
    end = len(body.rstrip()) if body.strip() else 0
    end = target.text.line_end(end - 1) if end else _after_comments(target)
    glue = b"" if not end or body[:end].endswith((b"\n", b"\r")) else b"\n"
    apart = b"\n\n" if end or has_head else b""
    return Edit(end, len(body), with_newline(glue + apart + text, newline))


def _after_comments(target: Source) -> int:
    return len(target.body) if is_shebang(target, 0) else 0


def _main_guard(target: Source) -> ast.If | None:
    for statement in target.tree.body:
        if isinstance(statement, ast.If) and "__name__" in ast.unparse(statement.test):
            return statement
    return None


def above_class(source: Source, owner: ast.stmt, text: bytes) -> Edit:
    """In the same module: directly above the class the method leaves."""
    top: ast.AST = owner
    while not isinstance(source.parents[top], ast.Module):
        top = source.parents[top]
    assert isinstance(top, ast.stmt)
    at = head_start(source, top)
    return Edit(at, at, with_newline(text + b"\n\n", source.text.newline))


def in_newline_of(target: Source, source: Source, text: bytes) -> bytes:
    """Text cut from one file in the newline of another."""
    if target.text.newline == source.text.newline:
        return text
    return with_newline(text.replace(b"\r\n", b"\n").replace(b"\r", b"\n"), target.text.newline)
