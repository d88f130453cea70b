"""Names inside quoted types: where a string is read as code by whoever evaluates types, outside of annotations too.

Finds `cast("Runner", x)`, `TypeVar("T", bound="Runner")`, `List["Runner"]`, type comments, and dotted names in quotes;
bare names in quoted annotations are occurrences of the scope table already."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator

from msgspec import Struct

from codemods.source.binder import table
from codemods.source.fstrings import literals
from codemods.source.name_spans import names_in_string
from codemods.source.parse import FUNCTIONS, Function, Source
from codemods.source.string_use import callee

Span = tuple[int, int]

_GENERIC = frozenset(
    {"List", "Dict", "Optional", "Union", "Tuple", "Set", "FrozenSet", "Type", "Callable", "Sequence", "Iterable"}
    | {"MutableSequence", "Iterator", "Mapping", "MutableMapping", "Collection", "Container", "Deque", "DefaultDict"}
    | {"OrderedDict", "Counter", "ClassVar", "Final", "Generator", "AsyncIterator", "AsyncIterable", "AsyncGenerator"}
    | {"Awaitable", "Coroutine", "Concatenate", "Required", "NotRequired", "Unpack", "ReadOnly", "TypeGuard"}
    | {"list", "dict", "tuple", "set", "frozenset", "type", "deque", "defaultdict"}
)
_TYPE_COMMENT = re.compile(rb"#[ \t]*type:[ \t]*(?!ignore\b)[^\r\n]*")


class QuotedNames(Struct, frozen=True):
    """`spans`: (the name's own text, the string's offset). unclear: offsets of strings that have the name, but joined
    from pieces or with escapes, so that it can't be pointed at."""

    spans: tuple[tuple[Span, ast.AST], ...] = ()
    unclear: tuple[ast.AST, ...] = ()


def quoted_names(source: Source, name: str) -> QuotedNames:
    """A bare name in quoted types, where the scope table does not have it."""
    word = re.compile(rf"(?<!\w){re.escape(name)}(?!\w)")
    if not re.search(rb"['\"][^'\"\n]*\b" + re.escape(name.encode()), source.body):
        return QuotedNames()
    known = {id(each.node) for each in table(source).named(name)}
    spans: list[tuple[Span, ast.AST]] = []
    unclear: list[ast.AST] = []
    for node in ast.walk(source.tree):
        if not isinstance(node, ast.Constant) or not isinstance(node.value, str) or id(node) in known:
            continue
        if not word.search(node.value) or not _is_type(source, node):
            continue
        try:
            parsed = ast.parse(node.value.strip(), mode="eval")
        except (SyntaxError, ValueError):
            continue
        if not any(isinstance(inner, ast.Name) and inner.id == name for inner in ast.walk(parsed)):
            continue
        found = [(start, end) for each, start, end in names_in_string(source, node) if each == name]
        spans.extend((span, node) for span in found)
        if not found:
            unclear.append(node)
    return QuotedNames(tuple(spans), tuple(unclear))


def _is_type(source: Source, node: ast.expr) -> bool:
    """Whether a string stands where a type is expected."""
    at: ast.AST = node
    for above in source.ancestors(node):
        if isinstance(above, ast.Call):
            return _takes_type(above, at)
        if isinstance(above, ast.Subscript):
            if at is not above.slice:
                return False
            head = above.value.attr if isinstance(above.value, ast.Attribute) else getattr(above.value, "id", "")
            if head in _GENERIC:
                return True
            if head in {"Literal", "Annotated"}:
                return False
        elif isinstance(above, ast.arg) or (isinstance(above, ast.AnnAssign) and at is above.annotation):
            return True
        elif isinstance(above, FUNCTIONS):
            return at is above.returns
        elif not isinstance(above, (ast.Tuple, ast.List, ast.BinOp, ast.keyword)):
            return False
        at = above
    return False


def _takes_type(call: ast.Call, at: ast.AST) -> bool:
    last = callee(call)[-1:]
    if isinstance(at, ast.keyword):
        return last == ["TypeVar"] and at.arg in {"bound", "default"}
    if at not in call.args:
        return False
    place = call.args.index(at)
    if last in (["cast"], ["ForwardRef"], ["assert_type"]):
        return place == (1 if last == ["assert_type"] else 0)
    return last in (["TypeVar"], ["NewType"]) and place > 0


class QuotedAttribute(Struct, frozen=True, eq=False):
    """`value.leaf` inside a quoted type: `expression` has no place in the tree, `span` is the leaf's own text, `node`
    the string."""

    expression: ast.Attribute
    span: Span
    node: ast.Constant


def quoted_attributes(source: Source, leaf: str) -> Iterator[QuotedAttribute]:
    """Dotted names in quoted annotations and types that have `.leaf`."""
    if not re.search(rb"['\"][^'\"\n]*\." + re.escape(leaf.encode()) + rb"\b", source.body):
        return
    for node in ast.walk(source.tree):
        if not isinstance(node, ast.Constant) or not isinstance(node.value, str) or f".{leaf}" not in node.value:
            continue
        if not _is_type(source, node):
            continue
        parts = list(literals(source.body, source.start(node), source.end(node)))
        if len(parts) != 1:
            continue
        start = parts[0].start + len(parts[0].prefix) + len(parts[0].quote)
        inner = source.body[start : parts[0].end - len(parts[0].quote)]
        try:
            tree = ast.parse(b"(" + inner + b")", mode="eval")
        except (SyntaxError, ValueError):
            continue
        for found in ast.walk(tree):
            if isinstance(found, ast.Attribute) and found.attr == leaf and found.lineno == found.end_lineno == 1:
                end = start + (found.end_col_offset or 0) - 1
                yield QuotedAttribute(found, (end - len(leaf.encode()), end), node)


def type_comments(source: Source, name: str) -> list[Span]:
    """The name in `# type:` comments, which are code for a type checker."""
    word = re.compile(rb"(?<![\w.])" + re.escape(name.encode()) + rb"\b")
    hits = [comment for comment in _TYPE_COMMENT.finditer(source.body) if word.search(comment.group())]
    if not hits:
        return []
    strings = [
        (source.start(node), source.end(node))
        for node in ast.walk(source.tree)
        if isinstance(node, ast.JoinedStr) or (isinstance(node, ast.Constant) and isinstance(node.value, (str, bytes)))
    ]
    return [
        (comment.start() + match.start(), comment.start() + match.end())
        for comment in hits
        if not any(start <= comment.start() < end for start, end in strings)
        for match in word.finditer(comment.group())
    ]


class SignatureComment(Struct, frozen=True):
    """`# type: (int) -> str`. num_types: how many parameters it tells the type of; None for `(...)`. is_inside: it
    stands below the header, with the body."""

    line: int
    num_types: int | None
    is_inside: bool


def signature_comment(source: Source, function: Function) -> SignatureComment | None:
    """The comment that tells the types of all parameters and of the result; None when the function has no such one."""
    header = source.start(function)
    below = source.text.line_start(source.start(function.body[0]))
    for comment in _TYPE_COMMENT.finditer(source.body, header, source.end(function)):
        text = comment.group().partition(b"type:")[2].partition(b"#")[0].strip().decode()
        before = source.body[source.text.line_start(comment.start()) : comment.start()].strip()
        if comment.start() > source.start(function.body[0]) and before:
            return None
        if text.startswith("("):
            try:
                types = ast.parse(text, mode="func_type")
            except (SyntaxError, ValueError):
                continue
            given = types.argtypes
            is_open = len(given) == 1 and isinstance(given[0], ast.Constant) and given[0].value is Ellipsis
            return SignatureComment(
                source.text.line_of(comment.start()), None if is_open else len(given), not before and below > header
            )
    return None
