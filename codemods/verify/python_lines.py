"""Facts about the lines of one side of one Python file: which lie inside a string, which are blank or comment alone and
so say nothing to Python, and which function is around a line. Knows nothing of the other side."""

from __future__ import annotations

import ast
import re
import sys
from collections.abc import Iterator

from codemods.schema.errors import SourceError
from codemods.source.files import FileSet
from codemods.source.parse import DEFINITIONS, Source, load
from codemods.verify.line_diff import split_lines

BLANK, COMMENT = "layout", "comment"
_LONE_RETURN = re.compile(rb"\r(?!\n)")
_SPACE = b" \t\x0c\r\n"


class Lines:
    """Line numbers count from 1 and are git's: a line ends at a line feed.

    source: None when the side can't be read as Python; `why` says why then."""

    def __init__(self, files: FileSet, path: str, raw: bytes | None) -> None:
        self.raw = raw or b""
        self.lines = split_lines(self.raw)
        self.source: Source | None = None
        self.why = ""
        self._strings: set[int] | None = None
        self._functions: list[tuple[int, int, str]] | None = None
        if raw is None:
            return
        if b"\r" in raw and _LONE_RETURN.search(raw):
            # Python ends a line at a lone carriage return and git does not: no number would mean one line.
            self.why = "the file has carriage returns inside its lines"
            return
        try:
            self.source = load(files, path)
        except SourceError as error:
            self.why = error.message

    @property
    def tree(self) -> ast.Module | None:
        return self.source.tree if self.source is not None else None

    @property
    def encoding(self) -> str:
        return self.source.text.encoding if self.source is not None else ""

    def silent(self, number: int) -> str:
        """BLANK or COMMENT when Python sees nothing in this line; "" otherwise."""
        line = self.lines[number - 1].strip(_SPACE)
        if number == 1 and line.startswith(b"\xef\xbb\xbf"):
            line = line[3:].strip(_SPACE)
        if line and not line.startswith(b"#"):
            return ""
        if self.source is None or number in self._inside_strings() or self._is_continued(number - 1):
            return ""
        return COMMENT if line else BLANK

    def function(self, number: int) -> str:
        """Qualname of the innermost function or class around a line; "" at module level."""
        if self._functions is None:
            self._functions = list(_definitions(self.tree)) if self.tree is not None else []
        around = [found for found in self._functions if found[0] <= number <= found[1]]
        return max(around)[2] if around else ""

    def _is_continued(self, number: int) -> bool:
        """Whether a backslash joins the line to the next one: a blank one there ends the statement, a comment one
        breaks it."""
        if number < 1:
            return False
        line = self.lines[number - 1].rstrip(b"\r\n")
        return line.endswith(b"\\") and not line.lstrip(_SPACE).startswith(b"#")

    def _inside_strings(self) -> set[int]:
        """The lines that begin inside a string."""
        if self._strings is None:
            self._strings = set()
            assert self.source is not None
            for node in ast.walk(self.source.tree):
                is_string = isinstance(node, ast.Constant | ast.JoinedStr) or type(node).__name__ == "TemplateStr"
                if is_string and isinstance(node, ast.expr) and self._spans_lines(node):
                    self._strings.update(range(node.lineno + 1, (node.end_lineno or node.lineno) + 1))
        return self._strings

    def _spans_lines(self, node: ast.expr) -> bool:
        """False for strings one under the other, each closed on its line: comments may stand between those."""
        if not isinstance(node, ast.Constant):
            return node.end_lineno != node.lineno
        if node.end_lineno == node.lineno:
            return False
        text = b"".join(self.lines[node.lineno - 1 : node.end_lineno])
        return b'"""' in text or b"'''" in text or b"\\\n" in text or b"\\\r\n" in text


def _definitions(tree: ast.Module) -> Iterator[tuple[int, int, str]]:
    """(first line with decorators, last line, qualname) of every function and class."""
    waiting: list[tuple[ast.AST, str]] = [(tree, "")]
    while waiting:
        node, prefix = waiting.pop()
        for child in ast.iter_child_nodes(node):
            if isinstance(child, DEFINITIONS):
                name = f"{prefix}{child.name}"
                yield first_line(child), child.end_lineno or child.lineno, name
                inner = f"{name}." if isinstance(child, ast.ClassDef) else f"{name}.<locals>."
                waiting.append((child, inner))
            elif not isinstance(child, ast.expr):
                waiting.append((child, prefix))


def first_line(statement: ast.stmt) -> int:
    """Where a statement begins, its decorators included."""
    decorators: list[ast.expr] = getattr(statement, "decorator_list", [])
    return min((decorator.lineno for decorator in decorators), default=statement.lineno)


def python_version() -> str:
    """Which grammar the files were read with."""
    return f"{sys.version_info.major}.{sys.version_info.minor}.{sys.version_info.micro}"
