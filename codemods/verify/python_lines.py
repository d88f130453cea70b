"""Facts about the lines of one side of one Python file: which lie inside a string, which are blank or comment alone and
so say nothing to Python, and which function is around a line. Knows nothing of the other side."""

from __future__ import annotations

import ast
import re
import sys
from collections.abc import Iterator

from codemods.schema.errors import SourceError
from codemods.source.files import FileSet
from codemods.source.parse import DEFINITIONS
from codemods.source.text import Text
from codemods.verify.line_diff import split_lines
from codemods.verify.trees import tree_of

BLANK, COMMENT = "layout", "comment"
_LONE_RETURN = re.compile(rb"\r(?!\n)")
# Where statements hold statements, or what holds some (handlers, cases).
BODIES = ("body", "orelse", "finalbody", "handlers", "cases")
_SPACE = b" \t\x0c\r\n"


class Lines:
    """Line numbers count from 1 and are git's: a line ends at a line feed.

    tree, text: None when the side can't be read as Python; `why` says why then."""

    def __init__(self, files: FileSet, path: str, raw: bytes | None) -> None:
        self.raw = raw or b""
        self.lines = split_lines(self.raw)
        self.tree: ast.Module | None = None
        self.text: Text | None = None
        self.why = ""
        self._functions: list[str] | None = None
        if raw is None:
            return
        if b"\r" in raw and _LONE_RETURN.search(raw):
            # Python ends a line at a lone carriage return and git does not: no number would mean one line.
            self.why = "the file has carriage returns inside its lines"
            return
        try:
            self.text, self.tree = tree_of(files, path)
        except SourceError as error:
            self.why = error.message

    @property
    def encoding(self) -> str:
        return self.text.encoding if self.text is not None else ""

    def silent(self, number: int) -> str:
        """BLANK or COMMENT when Python sees nothing in this line; "" otherwise."""
        line = self.lines[number - 1].strip(_SPACE)
        if number == 1 and line.startswith(b"\xef\xbb\xbf"):
            line = line[3:].strip(_SPACE)
        if line and not line.startswith(b"#"):
            return ""
        if self.tree is None or self._is_inside_string(self.tree, number) or self._is_continued(number - 1):
            return ""
        return COMMENT if line else BLANK

    def function(self, number: int) -> str:
        """Qualname of the innermost function or class around a line; "" at module level."""
        if self._functions is None:
            self._functions = [""] * (len(self.lines) + 1)
            for first, last, qualname in _definitions(self.tree) if self.tree is not None else ():
                self._functions[first : last + 1] = [qualname] * (last + 1 - first)
        return self._functions[number]

    def _is_continued(self, number: int) -> bool:
        """Whether a backslash joins the line to the next one: a blank one there ends the statement, a comment one
        breaks it."""
        if number < 1:
            return False
        line = self.lines[number - 1].rstrip(b"\r\n")
        return line.endswith(b"\\") and not line.lstrip(_SPACE).startswith(b"#")

    def _is_inside_string(self, tree: ast.Module, number: int) -> bool:
        """Whether the line begins inside a string."""
        waiting: list[ast.AST] = [tree]
        while waiting:
            for child in ast.iter_child_nodes(waiting.pop()):
                if not _covers(child, number):
                    continue
                if isinstance(child, ast.Constant | ast.JoinedStr) or type(child).__name__ == "TemplateStr":
                    assert isinstance(child, ast.expr)
                    if child.lineno < number and self._spans_lines(child):
                        return True
                else:
                    waiting.append(child)
        return False

    def _spans_lines(self, node: ast.expr) -> bool:
        """False for strings one under the other, each closed on its line: comments may stand between those."""
        if not isinstance(node, ast.Constant):
            return True
        text = b"".join(self.lines[node.lineno - 1 : node.end_lineno])
        return b'"""' in text or b"'''" in text or b"\\\n" in text or b"\\\r\n" in text


def _definitions(tree: ast.Module) -> Iterator[tuple[int, int, str]]:
    """(first line with decorators, last line, qualname) of every function and class, outer ones first."""
    waiting: list[tuple[ast.AST, str]] = [(tree, "")]
    while waiting:
        node, prefix = waiting.pop()
        for name in BODIES:
            for child in getattr(node, name, ()):
                if isinstance(child, DEFINITIONS):
                    qualname = f"{prefix}{child.name}"
                    yield first_line(child), child.end_lineno or child.lineno, qualname
                    inner = f"{qualname}." if isinstance(child, ast.ClassDef) else f"{qualname}.<locals>."
                    waiting.append((child, inner))
                elif hasattr(child, "body") or hasattr(child, "cases"):
                    waiting.append((child, prefix))


def _covers(node: ast.AST, number: int) -> bool:
    """Whether the line is one of the node's. Nodes without lines of their own (arguments, cases) may have it."""
    last = getattr(node, "end_lineno", None)
    if last is None:
        return True
    if last < number:
        return False
    first: int = node.lineno  # type: ignore[attr-defined]
    return first <= number or (isinstance(node, DEFINITIONS) and first_line(node) <= number)


def first_line(statement: ast.stmt) -> int:
    """Where a statement begins, its decorators included."""
    decorators: list[ast.expr] = getattr(statement, "decorator_list", [])
    return min((decorator.lineno for decorator in decorators), default=statement.lineno)


def python_version() -> str:
    """Which grammar the files were read with."""
    return f"{sys.version_info.major}.{sys.version_info.minor}.{sys.version_info.micro}"
