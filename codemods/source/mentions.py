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


_KEYWORD = re.compile(rb"\b(?:def|class|import|as|for|type)\s+\Z")
# What may stand between the start of a statement and one of its targets: names, commas and brackets, but no call.
_TARGETS = re.compile(rb"(?:[\s,=*()\[\]]|\w+(?!\w|\s*[(.\[])|\w+\[[\w'\"]*\])*\Z")
_NO_TARGET = re.compile(rb"\b(?:if|elif|while|return|assert|not|and|or|is|yield|raise|lambda|await)\b")
_AFTER = re.compile(rb"[ \t]*(?:[:=,;)\]#\\\r\n](?!=)|in\b|\Z|(?:[-+*/%@&|^]|//|\*\*|<<|>>)=)")
_LONGEST = 2000  # bytes of one line; a longer one is data
_WALRUS = re.compile(rb"\s*:=")
_COMPOUND = re.compile(rb"\s*(?:class|if|else|elif|for|while|try|with|except|finally|def|async|match|case)\b")
_LOOP = re.compile(rb"\b(?:for|as|import)\b[\s\w,*()\[\].]*\Z")


def may_bind(text: bytes, word: bytes) -> bool:
    """Whether some line may bind the word as a bare name: `def word`, `word = `, `word: int`, `import word`, also
    behind a colon or a semicolon, in brackets, in a pattern. May say so of a line that does not."""
    for at in occurrences(text, word):
        before = text[text.rfind(b"\n", 0, at) + 1 : at]
        if before.endswith(b"."):
            continue
        end = at + len(word)
        if _KEYWORD.search(before) or _WALRUS.match(text, end) or before.lstrip().startswith(b"case "):
            return True
        if not _AFTER.match(text, end):
            continue
        statement = _last_statement(before[-_LONGEST:])
        if _LOOP.search(statement) or (_TARGETS.match(statement) and not _NO_TARGET.search(statement)):
            return True
    return False


def _last_statement(line: bytes) -> bytes:
    """What stands on a line after the last `;`, or after the colon of a one-line `if` or `class`."""
    line = line[line.rfind(b";") + 1 :]
    return line[line.rfind(b":") + 1 :] if b":" in line and _COMPOUND.match(line) else line


_DEFINES = re.compile(rb"\b(?:def|class)\s+\Z")


def num_definitions(text: bytes, word: bytes) -> int:
    """How often `def word` or `class word` stands in the text."""
    return sum(_DEFINES.search(text, max(at - 16, 0), at) is not None for at in occurrences(text, word))


# Directly behind a target; a comma may be that of a call as well.
_AFTER_ATTRIBUTE = re.compile(rb"[ \t]*(?:[:,=](?!=)|(?:[-+*/%@&|^]|//|\*\*|<<|>>)=)")
_ENDS_TARGET = re.compile(rb"[)\]\s]*(?:in\b|[):,\]]|as\b)")
_CLOSES = re.compile(rb"[ \t]*(?:[)\]][)\]\s,]*=(?!=)|\r?\n[)\]\s]*=(?!=))")
_OPENS = re.compile(rb"\A[\s\w.,*()\[\]'\"]*\Z")


def sets_attribute(text: bytes, word: bytes) -> bool:
    """Whether `.word` may be assigned in the text: `.word = `, `.word: `, `.word += `, `for x.word in`, `as x.word`, in
    brackets. May say so of a text that does not; `is_set` of a parsed mention tells."""
    for at in occurrences(text, word):
        if text[at - 1 : at] != b".":
            continue
        end = at + len(word)
        if _AFTER_ATTRIBUTE.match(text, end):
            return True
        before = text[max(text.rfind(b"\n", 0, at) + 1, at - _LONGEST) : at]
        if _ENDS_TARGET.match(text, end) and _LOOP.search(before):
            return True
        if _CLOSES.match(text, end) and _OPENS.search(before):
            return True
    return False


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
