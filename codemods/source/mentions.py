"""Where an attribute or a name is used in a file, found by descending only into nodes whose lines mention the word.

A first look without scopes: it costs one parse, and most files are settled by it."""

from __future__ import annotations

import ast
import re
from bisect import bisect_left
from collections.abc import Iterator

from msgspec import Struct

from codemods.source.index import is_whole
from codemods.source.parse import DEFINITIONS, FUNCTIONS, Function
from codemods.source.text import Text


class Mention(Struct, frozen=True, eq=False):
    """One `receiver.word`, with the definitions around it, outermost first.

    in_body: for each of them, whether the mention is in its body (not in a decorator, default or annotation)."""

    node: ast.Attribute
    around: tuple[ast.AST, ...]

    @property
    def classes(self) -> str:
        """Qualname of the innermost class around; "" outside of classes."""
        parts: list[str] = []
        last = -1
        for index, node in enumerate(self.around):
            if isinstance(node, ast.ClassDef):
                last = index
        for node in self.around[: last + 1]:
            name = str(node.name)  # type: ignore[attr-defined]
            parts.append(name if isinstance(node, ast.ClassDef) else f"{name}.<locals>")
        return ".".join(parts)

    @property
    def method(self) -> Function | None:
        """The method (a function directly in a class) whose body has the mention, also through nested functions."""
        for outer, inner in zip(self.around, self.around[1:], strict=False):
            if isinstance(outer, ast.ClassDef) and isinstance(inner, FUNCTIONS):
                found = inner
                break
        else:
            return None
        return found


def attributes(text: Text, tree: ast.Module, word: str) -> list[Mention]:
    """Every attribute access of that name, in the order of the text."""
    lines = lines_of(text, word)
    if not lines:
        return []
    found = _descend(tree, lines, word, (), everything=False)
    return sorted(found, key=lambda each: (each.node.end_lineno or 0, each.node.end_col_offset or 0))


def occurrences(text: bytes, word: bytes) -> Iterator[int]:
    """Offsets where the word stands as a whole identifier."""
    at = text.find(word)
    while at >= 0:
        if is_whole(text, at, len(word)):
            yield at
        at = text.find(word, at + 1)


_KEYWORD = re.compile(rb"\b(?:def|class|import|as|for)\s+\Z")
_TARGETS = re.compile(rb"[\s\w,=]*\Z")
_AFTER = re.compile(rb"[ \t]*[:=,](?!=)")


def may_bind(text: bytes, word: bytes) -> bool:
    """Whether some line may bind the word as a bare name: `def word`, `word = `, `word: int`, `import word`."""
    for at in occurrences(text, word):
        before = text[text.rfind(b"\n", 0, at) + 1 : at]
        if _KEYWORD.search(before) or (_AFTER.match(text, at + len(word)) and _TARGETS.match(before)):
            return True
    return False


_DEFINES = re.compile(rb"\b(?:def|class)\s+\Z")


def num_definitions(text: bytes, word: bytes) -> int:
    """How often `def word` or `class word` stands in the text."""
    return sum(_DEFINES.search(text, max(at - 16, 0), at) is not None for at in occurrences(text, word))


def sets_attribute(text: bytes, word: bytes) -> bool:
    """Whether `.word = ` or `.word: ` stands in the text."""
    ends = (at + len(word) for at in occurrences(text, word) if text[at - 1 : at] == b".")
    return any(_AFTER.match(text, end) for end in ends)


def lines_of(text: Text, word: str) -> list[int]:
    """The lines that have the word as a whole identifier, in order."""
    return [text.line_of(at) for at in occurrences(text.body, word.encode())]


def _descend(
    node: ast.AST, lines: list[int], word: str, around: tuple[ast.AST, ...], *, everything: bool
) -> Iterator[Mention]:
    if isinstance(node, ast.Attribute) and node.attr == word:
        yield Mention(node, around)
    # The lines of what stands in an f-string are not to be trusted before Python 3.12.
    everything = everything or isinstance(node, ast.JoinedStr)
    for name, value in ast.iter_fields(node):
        children = value if isinstance(value, list) else [value]
        inner = (*around, node) if name == "body" and isinstance(node, DEFINITIONS) else around
        for child in children:
            if isinstance(child, ast.AST) and (everything or _has_line(child, lines)):
                yield from _descend(child, lines, word, inner, everything=everything)


def _has_line(node: ast.AST, lines: list[int]) -> bool:
    first = getattr(node, "lineno", None)
    if first is None:
        return not isinstance(node, (ast.expr_context, ast.operator, ast.unaryop, ast.cmpop, ast.boolop))
    decorators = getattr(node, "decorator_list", ())
    first = min([first, *(each.lineno for each in decorators)])
    index = bisect_left(lines, first)
    return index < len(lines) and lines[index] <= (node.end_lineno or first)  # type: ignore[attr-defined]
