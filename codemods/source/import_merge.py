"""How a new name joins a `from … import …` that is there: on its line while it fits, or one more line of the list.

A statement whose layout can't take another name as it stands is left alone; then the name gets a statement of its own
(import_layout.py)."""

from __future__ import annotations

import ast
from collections.abc import Mapping

from codemods.source.import_layout import (
    Line,
    Owns,
    block_for,
    from_statement,
    insertions,
    module_of,
    name_key,
)
from codemods.source.locate import shares_line
from codemods.source.parse import Source
from codemods.source.splice import Edit, with_newline


def add_lines(source: Source, wanted: Mapping[Line, int], *, line_length: int, owns: Owns) -> list[Edit]:
    """Edits that add imports at module level: into statements that are there, else as new ones in order.

    wanted: each with the offset that first needs it. owns: whether a top-level name belongs to the tree."""
    fresh: dict[Line, int] = {}
    merged: dict[ast.ImportFrom, list[Line]] = {}
    for line in sorted(wanted):
        home = _mergeable(source, line, owns, wanted[line])
        if home is None:
            fresh[line] = wanted[line]
        else:
            merged.setdefault(home, []).append(line)
    edits = [_merge(source, statement, lines, line_length) for statement, lines in merged.items()]
    return edits + insertions(source, fresh, line_length=line_length, owns=owns)


def _mergeable(source: Source, line: Line, owns: Owns, needed_at: int) -> ast.ImportFrom | None:
    """A `from module import …` beside which the import would stand, and that can take one more name."""
    if not line.name:
        return None
    block = block_for(source, line, owns, needed_at)
    stars = [index for index, node in enumerate(block) if isinstance(node, ast.ImportFrom) and _is_star(node)]
    for statement in block[stars[-1] + 1 if stars else 0 :]:
        if isinstance(statement, ast.ImportFrom) and module_of(statement) == line.module:
            text = source.segment(statement)
            end = source.end(statement)
            comment = source.body[end : source.text.line_end(max(0, end - 1))].strip()
            is_odd = shares_line(source, statement) or b"\\" in text
            if is_odd or comment != (f"# {line.mark}".encode() if line.mark else b""):
                continue
            is_multi = statement.lineno != statement.end_lineno
            if _one_per_line(statement) if is_multi else b"#" not in text:
                return statement
    return None


def _is_star(node: ast.ImportFrom) -> bool:
    return node.names[0].name == "*"


def _one_per_line(statement: ast.ImportFrom) -> bool:
    lines = [alias.lineno for alias in statement.names]
    return len(set(lines)) == len(lines) and statement.lineno not in lines and statement.end_lineno not in lines


def _merge(source: Source, statement: ast.ImportFrom, additions: list[Line], line_length: int) -> Edit:
    names = [line.one for line in additions]
    if statement.lineno != statement.end_lineno:
        return _merge_lines(source, statement, names)
    merged = _in_order([source.segment(alias).decode() for alias in statement.names], names)
    start, end = source.start(statement), source.end(statement)
    module, mark = module_of(statement), additions[0].mark
    if mark:  # the comment belongs to the statement: it goes where the brackets open
        end = source.text.line_end(end - 1)
        text = from_statement(module, merged, mark, line_length, in_order=True) + "\n"
    elif b"(" in source.segment(statement) and len(f"from {module} import ({', '.join(merged)})") <= line_length:
        text = f"from {module} import ({', '.join(merged)})"
    else:
        text = from_statement(module, merged, "", line_length, in_order=True)
    return Edit(start, end, with_newline(text.encode(), source.text.newline))


def _in_order(present: list[str], names: list[str]) -> list[str]:
    """New names go where they belong when the list is sorted (one way or the other), else to its end."""
    fresh = [name for name in names if name not in present]
    for key in (name_key, str.lower, str):
        if sorted(present, key=key) == present:
            return sorted([*present, *fresh], key=key)
    return [*present, *fresh]


def _merge_lines(source: Source, statement: ast.ImportFrom, names: list[str]) -> Edit:
    """One more line in a list with a name a line; comments stay with the name they stand beside or above."""
    present = [source.segment(alias).decode() for alias in statement.names]
    merged = _in_order(present, names)
    last = statement.names[-1]
    indent = source.text.indent_at(source.start(last))
    start = source.text.line_start(source.start(statement.names[0]))
    end = source.text.line_end(source.end(last))
    lines: dict[str, bytes] = {}
    at = start
    for text, alias in zip(present, statement.names, strict=True):
        after = source.text.line_end(source.end(alias))
        lines[text] = source.body[at:after]
        at = after
    rest = source.body[source.end(last) : end]
    if not rest.lstrip().startswith(b","):
        tail = lines[present[-1]]
        lines[present[-1]] = tail[: len(tail) - len(rest)] + b"," + rest
    fresh = {name: indent + name.encode() + b"," + source.text.newline for name in merged if name not in lines}
    return Edit(start, end, b"".join({**lines, **fresh}[name] for name in merged))
