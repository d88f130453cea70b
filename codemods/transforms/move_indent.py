"""A block in the indentation of the file it goes to: tabs where that file has tabs, blanks where it has blanks.

Only the kind is changed, and only where the two differ or the block mixes both; text inside strings stays."""

from __future__ import annotations

import ast
import io
import tokenize

from codemods.source.parse import Source
from codemods.transforms.layout import indent_unit


def in_indent_of(target: Source, source: Source, text: bytes) -> bytes:
    """The block at module level, indented as the target is."""
    block = text.decode()
    newline = source.text.newline.decode()
    lines = block.replace(newline, "\n").splitlines(keepends=True) if newline != "\n" else _lines(block)
    stack = _stack_by_line(lines)
    kinds = {kind for indent in stack.values() for kind in indent[-1]}
    unit = _unit(target) or ("" if len(kinds) < 2 else _unit(source) or "    ")
    if not unit or kinds <= {unit[0]}:
        return text
    frozen = _inside_strings(lines)
    changed = [
        line if number in frozen or not line.strip() else _shifted(line, stack.get(number, [""]), unit)
        for number, line in enumerate(lines, 1)
    ]
    return "".join(changed).replace("\n", newline).encode()


def _lines(block: str) -> list[str]:
    return io.StringIO(block, newline="\n").readlines()


def _unit(source: Source) -> str:
    """One step of indentation of a file that has any and does not mix kinds."""
    has_any = any(isinstance(node, ast.stmt) and node.col_offset for node in ast.walk(source.tree))
    unit = indent_unit(source).decode() if has_any else ""
    return unit if len(set(unit)) == 1 else ""


def _stack_by_line(lines: list[str]) -> dict[int, list[str]]:
    """For each line the indentations of the blocks around it, outermost first."""
    found: dict[int, list[str]] = {}
    stack = [""]
    last = 0
    for token in tokenize.generate_tokens(iter(lines).__next__):
        if token.type == tokenize.INDENT:
            stack.append(token.string)
        elif token.type == tokenize.DEDENT:
            stack.pop()
        elif token.type not in (tokenize.ENDMARKER, tokenize.NL, tokenize.COMMENT):
            for number in range(max(last + 1, 1), token.end[0] + 1):
                found.setdefault(number, list(stack))
            last = token.end[0]
    return found


def _inside_strings(lines: list[str]) -> set[int]:
    """Lines that begin inside a string."""
    found: set[int] = set()
    for node in ast.walk(ast.parse("".join(lines))):
        is_text = isinstance(node, ast.JoinedStr) or (
            isinstance(node, ast.Constant) and isinstance(node.value, str | bytes)
        )
        if is_text:
            found.update(range(node.lineno + 1, (node.end_lineno or node.lineno) + 1))  # type: ignore[attr-defined]
    return found


def _shifted(line: str, stack: list[str], unit: str) -> str:
    """One line with each level of its block written as `unit`; what it has beyond (alignment) in blanks of its kind."""
    blanks = line[: len(line) - len(line.lstrip(" \t\f"))]
    level = max((depth for depth, indent in enumerate(stack) if blanks.startswith(indent)), default=0)
    rest = blanks[len(stack[level]) :]
    if unit[0] == " ":
        rest = rest.replace("\t", unit)
    elif len(rest) >= 4 and not rest.strip(" "):
        rest = "\t" * (len(rest) // 4) + " " * (len(rest) % 4)
    return unit * level + rest + line[len(blanks) :]
