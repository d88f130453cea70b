"""The text that mutants are cut from: its tree, its bytes, and what a rule proposes (`Candidate`). Decides how a piece
of text takes the place of another so that it still reads as one expression; the rules say what to change."""

from __future__ import annotations

import ast
import re
from bisect import bisect_left
from collections.abc import Iterator
from enum import Enum
from itertools import pairwise

from msgspec import Struct

from codemods.source.fstrings import outermost_in
from codemods.source.nodes import children, walk
from codemods.source.parse import FUNCTIONS, Source
from codemods.source.text import NotText

_PATH = "<mutated>"
_COMMENT = re.compile(rb"#[^\r\n]*")
_COOKIE = re.compile(r"\A(\ufeff?[ \t\f]*#.*?)coding(?=[:=])")
_LINE_END = re.compile(r"(?<=\n)|(?<=\r)(?!\n)")
_NO_CODE = re.compile(r"\ufeff?[ \t\f]*(?:#.*)?[\r\n]*\Z")
_BLANK = re.compile(rb"(?:[\s\\]|#[^\r\n]*)*")
_BLANK_OR_BRACKET = re.compile(rb"(?:[\s\\()]|#[^\r\n]*)*")
_WORD = re.compile(rb"\w|[^\x00-\x7f]")
_ATOMS = (
    ast.Name,
    ast.Attribute,
    ast.Call,
    ast.Subscript,
    ast.Constant,
    ast.List,
    ast.Dict,
    ast.Set,
    ast.ListComp,
    ast.DictComp,
    ast.SetComp,
    ast.GeneratorExp,
)


class Kind(Enum):
    """What a mutant changes."""

    COMPARISON = "comparison"
    BOUNDARY = "boundary"
    TRUTH = "truth"
    BOOLEAN = "boolean"
    CONDITION = "condition"
    OPERAND = "operand"
    CONSTANT = "constant"
    ARITHMETIC = "arithmetic"
    UNARY = "unary"
    ARGUMENT_SWAP = "argument-swap"
    ARGUMENT_DROP = "argument-drop"
    CALL_TWIN = "call-twin"
    CALL_UNWRAP = "call-unwrap"
    CALL_DROP = "call-drop"
    LOG_LEVEL = "log-level"
    NAME_SWAP = "name-swap"
    ATTRIBUTE_SWAP = "attribute-swap"
    RANGE = "range"
    SLICE = "slice"
    F_STRING = "f-string"
    VALUE = "value"
    STATEMENT_DROP = "statement-drop"
    STATEMENT_SWAP = "statement-swap"
    EARLY_RETURN = "early-return"
    RETURN = "return"
    RAISE_DROP = "raise-drop"
    EXCEPTION = "exception"
    HANDLER = "handler"
    LOOP = "loop"
    WITH_DROP = "with-drop"
    DECORATOR_DROP = "decorator-drop"


class Candidate(Struct, frozen=True, eq=False):
    """A change that a rule proposes: start:end of the body becomes `text`.

    node: what the change belongs to. span: the statements that it takes part in as wholes, None when it stays inside
    one expression or header."""

    kind: Kind
    start: int
    end: int
    text: bytes
    note: str
    node: ast.AST
    span: tuple[int, int] | None = None


class Ground:
    """One module's text and tree, with the questions that several rules ask. Offsets count bytes of `body`."""

    def __init__(self, source: str) -> None:
        """Raises Unparsable, NotText."""
        self.source = Source(_PATH, _encoded(source))
        self.body = self.source.body
        self.tree = self.source.tree
        self.parents = self.source.parents
        self._lead = 1 if source.startswith("\ufeff") else 0
        self._is_ascii = self.body.isascii()
        self._chars = [0]
        starts = [*self.source.text.line_starts, len(self.body)]
        for start, end in pairwise(starts):
            self._chars.append(self._chars[-1] + len(self.body[start:end].decode("utf-8")))
        self._yields: dict[ast.AST, int] = {}
        self._comments: list[tuple[int, int]] | None = None
        # f-strings by node inside them: their text has rules of its own.
        self.f_strings: dict[ast.AST, ast.JoinedStr] = {}
        for outer in outermost_in(self.source.text, self.tree):
            self.f_strings.update(dict.fromkeys(walk(outer), outer))

    def start(self, node: ast.AST) -> int:
        return self.source.start(node)

    def end(self, node: ast.AST) -> int:
        return self.source.end(node)

    def segment(self, node: ast.AST) -> bytes:
        return self.source.segment(node)

    def char(self, offset: int) -> int:
        """The offset in characters of the text as it was given."""
        if self._is_ascii:
            return offset + self._lead
        line, column = self.source.text.position(offset)
        start = offset - column
        return self._lead + self._chars[line - 1] + len(self.body[start:offset].decode("utf-8"))

    def words(self, start: int, end: int) -> bytes:
        """The text of start:end without comments and blanks."""
        if self._comments is None:
            self._comments = self._find_comments()
        found, at = b"", start
        for first, last in self._comments[bisect_left(self._comments, (start, start)) :]:
            if first >= end:
                break
            found, at = found + self.body[at:first], last
        return b"".join((found + self.body[at:end]).split())

    def _find_comments(self) -> list[tuple[int, int]]:
        """The spans of comments, in order. A hash inside a string is none."""
        texts = [node for node in walk(self.tree) if isinstance(node, ast.JoinedStr) or _is_string(node)]
        spans = [(self.start(node), self.end(node)) for node in texts if self.f_strings.get(node, node) is node]
        inside = bytearray(len(self.body))
        for start, end in spans:
            inside[start:end] = b"\1" * (end - start)
        found, at = [], 0
        while (match := _COMMENT.search(self.body, at)) is not None:
            is_text = inside[match.start()]
            if not is_text:
                found.append(match.span())
            at = match.start() + 1 if is_text else match.end()
        return found

    def column(self, offset: int) -> int:
        """The column in characters, from 1."""
        start = self.source.text.line_start(offset)
        return len(self.body[start:offset].decode("utf-8")) + 1

    def first(self, statement: ast.AST) -> int:
        """Where a statement begins: at the `@` of its first decorator when it has any."""
        start = self.start(statement)
        decorators = getattr(statement, "decorator_list", ())
        return self.at_sign(decorators[0]) if decorators else start

    def at_sign(self, decorator: ast.expr) -> int:
        return self.body.rindex(b"@", 0, self.start(decorator))

    def starts_line(self, offset: int) -> bool:
        """Whether only blanks stand before it on its line."""
        return not self.body[self.source.text.line_start(offset) : offset].strip()

    def statement(self, node: ast.AST) -> ast.stmt:
        return self.source.statement_of(node)

    def block_end(self, statement: ast.stmt) -> int:
        """Where the block that a statement is in ends."""
        for block in blocks(self.parents[statement]):
            if any(each is statement for each in block):
                return self.end(block[-1])
        return self.end(statement)

    def function(self, node: ast.AST) -> ast.AST | None:
        """The function whose code `node` is part of; None at module and class level."""
        around = self.source.enclosing(node, ast.FunctionDef, ast.AsyncFunctionDef, ast.Lambda, ast.ClassDef)
        return None if isinstance(around, ast.ClassDef) else around

    def yields(self, function: ast.AST) -> int:
        """How often a function's own code yields."""
        if function not in self._yields:
            self._yields[function] = num_yields(function)
        return self._yields[function]

    def skip_blank(self, at: int, *, brackets: bool = False) -> int:
        """Past blanks, line continuations and comments; with `brackets` past round brackets too."""
        match = (_BLANK_OR_BRACKET if brackets else _BLANK).match(self.body, at)
        assert match is not None
        return match.end()

    def find(self, token: bytes, start: int, end: int) -> int:
        """Offset of `token` in a gap between two nodes (brackets, commas, blanks, comments), -1 when there is none."""
        at = start
        while at < end:
            at = self.skip_blank(at)
            if at >= end:
                return -1
            if self.body.startswith(token, at):
                return at
            at += 1
        return -1

    def wrapped(self, node: ast.expr) -> bytes:
        """The text of an expression, in brackets where it might bind otherwise in another place."""
        text = self.segment(node)
        is_atom = isinstance(node, _ATOMS) and not (isinstance(node, ast.Constant) and _is_joined(text))
        if is_atom or (isinstance(node, ast.Tuple) and text.startswith(b"(") and text.endswith(b")")):
            return text
        return b"(" + text + b")"

    def replace(self, kind: Kind, node: ast.expr, text: bytes, note: str) -> Candidate:
        """An expression becomes another one. `text` has brackets of its own where it needs them."""
        start, end = self.start(node), self.end(node)
        if isinstance(node, ast.GeneratorExp) and not text.startswith(b"("):
            parent = self.parents.get(node)
            if isinstance(parent, ast.Call) and self.end(parent) == end:
                text = b"(" + text + b")"  # the brackets of a sole generator are those of the call
        return self.splice(kind, start, end, text, note, node)

    def splice(
        self,
        kind: Kind,
        start: int,
        end: int,
        text: bytes,
        note: str,
        node: ast.AST,
        span: tuple[int, int] | None = None,
    ) -> Candidate:
        """As given, with a blank where the new text would grow together with a word beside it."""
        if text and start and _is_word(self.body, start - 1) and _is_word(text, 0):
            text = b" " + text
        if text and end < len(self.body) and _is_word(self.body, end) and _is_word(text, len(text) - 1):
            text += b" "
        return Candidate(kind=kind, start=start, end=end, text=text, note=note, node=node, span=span)


def short(text: bytes | str, limit: int = 48) -> str:
    """A piece of code on one line, cut in the middle of nothing but blanks and length."""
    flat = " ".join((text.decode("utf-8") if isinstance(text, bytes) else text).split())
    return flat if len(flat) <= limit else flat[: limit - 1] + "…"


def becomes(before: bytes, after: bytes) -> str:
    return f"`{short(before)}` becomes `{short(after)}`"


def is_pure(node: ast.AST) -> bool:
    """Whether evaluating it can have no effect that anyone sees: names, constants, tuples of them."""
    if isinstance(node, ast.Tuple):
        return all(is_pure(each) for each in node.elts)
    return isinstance(node, (ast.Name, ast.Constant, ast.Lambda))


def blocks(node: ast.AST) -> Iterator[list[ast.stmt]]:
    """The blocks of statements directly in a node; those of handlers and cases are theirs."""
    for name in ("body", "orelse", "finalbody"):
        block = getattr(node, name, None)
        if isinstance(block, list) and block and isinstance(block[0], ast.stmt):
            yield block


def num_yields(tree: ast.AST) -> int:
    """How often the code of a text or function yields; functions inside do not count."""
    found, stack = 0, children(tree)
    while stack:
        node = stack.pop()
        if isinstance(node, (ast.Yield, ast.YieldFrom)):
            found += 1
        if not isinstance(node, (*FUNCTIONS, ast.Lambda)):
            stack.extend(children(node))
    return found


def _is_word(text: bytes, at: int) -> bool:
    return _WORD.match(text, at) is not None


def _is_string(node: ast.AST) -> bool:
    return isinstance(node, ast.Constant) and isinstance(node.value, (str, bytes))


def _is_joined(text: bytes) -> bool:
    """A string over several lines or of several literals: bare, it may need the brackets that are around it."""
    return b"\n" in text or b"\r" in text or text.count(b'"') + text.count(b"'") > 2


def _encoded(source: str) -> bytes:
    """The text in UTF-8. A declaration of another encoding is about the file that it was read from: as many characters
    that declare nothing take its place."""
    first, second, rest = [*_LINE_END.split(source, maxsplit=2), "", ""][:3]
    if _NO_CODE.match(first):
        first, second = (_COOKIE.sub(r"\1------", line) for line in (first, second))
    try:
        return (first + second + rest).encode("utf-8")
    except UnicodeEncodeError as error:
        raise NotText(f"has no place in a file: {error}", path=_PATH, fix="read it with its own encoding") from error
