"""Classes as text, so that a file of ten thousand lines is not parsed for one attribute: header, block, one method.

Found by indentation: a block ends where a line starts further left. A string that reaches further left than its class
cuts the block short; then less is known of the class, never more."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from functools import cached_property

from codemods.source.line_matches import line_matches

_CLASS = re.compile(rb"^([ \t]*)class[ \t]+(\w+)[ \t]*[(:]", re.MULTILINE)
_DATA = re.compile(rb"\b(dataclass|attr\.s|attrs?\.define|define|Struct|NamedTuple|BaseModel|TypedDict)\b")
_PLAIN = re.compile(rb"@(?:\w+\.)*(?:staticmethod|classmethod|abstractmethod|override|final)\b[^\n]*")
_ASKED = re.compile(rb"\b__getattr(?:ibute)?__\b")


class ClassText:
    """One class: `head` from its first decorator to the colon, `block` what is inside; `line` is where that starts."""

    def __init__(self, path: str, name: str, raw: bytes, match: re.Match[bytes]) -> None:
        self.path, self.name = path, name
        end = _end_of_header(raw, match.end() - 1)
        self.head = _decorators(raw, match.start()) + raw[match.start() : end]
        stop = re.compile(rb"^[ \t]{0,%d}[^\s#)\]}]" % len(match[1]), re.MULTILINE).search(
            raw, raw.find(b"\n", end) + 1
        )
        self.block = raw[end : stop.start() if stop is not None else len(raw)]
        self.start = end
        self.line = raw.count(b"\n", 0, end) + 1
        inner = re.search(rb"\n([ \t]+)[^\s#]", self.block)
        self.indent = inner[1] if inner is not None else b"    "
        self._kinds: dict[str, frozenset[str]] = {}
        self._methods: dict[str, ast.FunctionDef | ast.AsyncFunctionDef | None] = {}

    @cached_property
    def bases(self) -> tuple[str, ...]:
        """The bases as they are written, without subscripts and keywords."""
        found = re.search(rb"\bclass[ \t]+\w+[ \t]*\((.*)\)[^)]*\Z", self.head, re.DOTALL)
        text = re.sub(rb"\[[^\[\]]*\]", b"", found[1]) if found is not None else b""
        return tuple(
            part.strip().decode("utf-8", "replace") for part in text.split(b",") if part.strip() and b"=" not in part
        )

    @cached_property
    def is_data(self) -> bool:
        """Whether annotations alone make attributes that every instance has."""
        return _DATA.search(self.head) is not None

    @cached_property
    def is_frozen(self) -> bool:
        return re.search(rb"\bfrozen\s*=\s*True\b|\bNamedTuple\b", self.head) is not None

    @cached_property
    def is_asking(self) -> bool:
        """Whether reading an attribute runs code of the class."""
        return _ASKED.search(self.block) is not None

    def kinds(self, name: str) -> frozenset[str]:
        """What the class body makes of a name: "method", "computed" (a decorated one), "field", "value", "typed"."""
        if name not in self._kinds:
            is_there = name.encode() in self.block
            self._kinds[name] = frozenset(self._kinds_of(name)) if is_there else frozenset()
        return self._kinds[name]

    def _kinds_of(self, name: str) -> Iterator[str]:
        word = re.escape(name.encode())
        defined = rb"\n%b(?:(?:async[ \t]+)?(?:def|class)[ \t]+%b\b|%b[ \t]*(:[^=\n]*)?(=)?)" % (
            self.indent,
            word,
            word,
        )
        for match in re.finditer(defined, self.block):
            if match[0].rstrip().endswith((b":", b"=")) or match[1] or match[2]:
                is_value = match[2] is not None
                if is_value and re.match(rb"[ \t]*[\w.]*property\(", self.block[match.end() : match.end() + 80]):
                    yield "computed"
                else:
                    yield "value" if is_value and not match[1] else "field" if is_value or self.is_data else "typed"
            elif re.search(rb"\b(?:def|class)\b", match[0]):
                above = _decorators(self.block, match.start() + 1)
                yield "computed" if _PLAIN.sub(b"", above).strip() else "method"

    def annotation(self, name: str) -> str:
        """The annotation of a name in the class body."""
        found = re.search(
            rb"^%b%b[ \t]*:([^=\n#]*)" % (self.indent, re.escape(name.encode())), self.block, re.MULTILINE
        )
        return found[1].decode("utf-8", "replace").strip() if found is not None else ""

    @cached_property
    def starts(self) -> list[tuple[int, str]]:
        """Line and name of every function of the class body, in order."""
        pattern = re.compile(rb"^%b(?:async[ \t]+)?def[ \t]+(\w+)" % self.indent, re.MULTILINE)
        return [
            (self.line + self.block.count(b"\n", 0, match.start()), match[1].decode("utf-8", "replace"))
            for match in pattern.finditer(self.block)
        ]

    def method_at(self, line: int) -> str:
        """The function of the class body around a line; "" for none."""
        found = ""
        for start, name in self.starts:
            if start > line:
                break
            found = name
        return found

    def method(self, name: str) -> ast.FunctionDef | ast.AsyncFunctionDef | None:
        """The function of that name with the line numbers of its file; None where there is none or more than one."""
        if name not in self._methods:
            lines = [line for line, each in self.starts if each == name]
            self._methods[name] = self._parsed(lines[0]) if len(lines) == 1 else None
        return self._methods[name]

    def _parsed(self, line: int) -> ast.FunctionDef | ast.AsyncFunctionDef | None:
        lines = self.block.split(b"\n")[line - self.line :]
        width = len(self.indent)
        end = next(
            (
                at
                for at, text in enumerate(lines)
                if at
                and text.strip()
                and len(text) - len(text.lstrip(b" \t")) <= width
                and text.strip()[:1] not in b")]}#"
            ),
            len(lines),
        )
        try:
            # Behind as many empty lines, because to number all nodes anew takes longer than to parse them.
            tree = ast.parse(b"\n" * (line - 2) + b"class _:\n" + b"\n".join(lines[:end]))
        except (SyntaxError, ValueError, RecursionError, MemoryError):
            return None
        node = tree.body[0].body[0]  # type: ignore[attr-defined]
        return node if isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef)) else None


def classes_in(path: str, raw: bytes) -> dict[str, ClassText]:
    """Simple name -> class, for every class of a file; of namesakes the last."""
    return {
        match[2].decode("utf-8", "replace"): ClassText(path, match[2].decode("utf-8", "replace"), raw, match)
        for match in line_matches(_CLASS, raw, (b"class",))
    }


def class_in(path: str, raw: bytes, name: str) -> ClassText | None:
    """One class of a file."""
    for match in line_matches(_CLASS, raw, (b"class",)):
        if match[2] == name.encode():
            return ClassText(path, name, raw, match)
    return None


def _end_of_header(raw: bytes, at: int) -> int:
    depth = 0
    for match in re.compile(rb"[()\[\]{}:]").finditer(raw, at, at + 20_000):
        if match[0] == b":" and depth == 0:
            return match.end()
        depth += (match[0] in b"([{") - (match[0] in b")]}")
    return at + 1


def _decorators(raw: bytes, start: int) -> bytes:
    """The lines above that belong to a definition."""
    at = start
    while at > 0:
        line = raw.rfind(b"\n", 0, at - 1) + 1
        text = raw[line:at].strip()
        if not text or not text.startswith((b"@", b")", b"frozen", b"kw_only", b"slots", b"eq")):
            break
        at = line
    return raw[at:start]
