"""From the words of a plan to a part of a function: a row of statements in one suite, or one expression.

Words are matched against the beginning of each statement, blanks aside. Words that fit in several ways are refused with
the lines they are on; so is a part that shares a physical line with code that stays."""

from __future__ import annotations

import ast
from collections.abc import Iterator

from msgspec import Struct

from codemods.schema.hazards import Refusal
from codemods.source.parse import DEFINITIONS, FUNCTIONS, Function, Source
from codemods.transforms.inline_brackets import is_whole

_PIECES = (ast.Starred, ast.Slice, ast.FormattedValue)  # expressions to `ast`, no values by themselves


class Part(Struct, frozen=True, kw_only=True, eq=False):
    """What is taken out. start:end is its text: whole lines with the comments that belong to it, or the expression.

    statements: the row; () for an expression. suite: the list the row stands in."""

    statements: tuple[ast.stmt, ...] = ()
    suite: tuple[ast.stmt, ...] = ()
    expression: ast.expr | None = None
    start: int
    end: int

    @property
    def nodes(self) -> tuple[ast.AST, ...]:
        return self.statements or ((self.expression,) if self.expression is not None else ())

    @property
    def line(self) -> int:
        return int(self.nodes[0].lineno)  # type: ignore[attr-defined]


def suites(function: Function) -> Iterator[list[ast.stmt]]:
    """Every list of statements of the function itself, outside in."""
    stack: list[ast.AST] = [function]
    while stack:
        node = stack.pop(0)
        for name in ("body", "orelse", "finalbody"):
            block = getattr(node, name, None)
            if isinstance(block, list) and block:
                yield block
                stack.extend(each for each in block if not isinstance(each, DEFINITIONS))
        stack.extend(getattr(node, "handlers", []))
        stack.extend(getattr(node, "cases", []))


def find_block(source: Source, function: Function, first: str, last: str) -> Part | Refusal:
    """The row from the statement that begins with `first` to the one that begins with `last` ("" for the same one)."""
    if not first.strip():
        return _refusal(source, function.lineno, "no-block", "nothing says where the block starts", "give `first`")
    pairs = [
        (suite, low, high)
        for suite in suites(function)
        for low in range(len(suite))
        if _begins(source, suite[low], first)
        for high in (range(low, len(suite)) if last.strip() else [low])
        if not last.strip() or _begins(source, suite[high], last)
    ]
    if len(pairs) > 1:
        exact = [pair for pair in pairs if _is_first_line(source, pair, first, last)]
        pairs = exact or pairs
    if not pairs:
        return _nothing(source, function, first, last)
    if len(pairs) > 1:
        return _several(source, function, first, last, pairs)
    suite, low, high = pairs[0]
    return _row(source, suite, low, high)


def find_expression(source: Source, function: Function, text: str, within: str) -> Part | Refusal:
    """The one expression with this text. within: the beginning of the statement it stands in, "" for any."""
    wanted = {_words(text)}
    if is_whole(text.strip().encode()):
        wanted.add(_words(text.strip()[1:-1]))
    found: dict[int, ast.expr] = {}
    for node in ast.walk(function):
        if isinstance(node, ast.expr) and wanted & _spellings(source, node) and _is_value(source, node):
            found.setdefault(source.start(node), node)
    if within:
        found = {at: node for at, node in found.items() if _stands_in(source, function, node, within)}
    if not found:
        message = f"{function.name} has no expression {_short(text)}" + (f" in {_short(within)}" if within else "")
        return _refusal(source, function.lineno, "unknown-block", message, "copy the expression as it stands there")
    if len(found) > 1:
        lines = ", ".join(str(node.lineno) for node in found.values())
        message = f"{_short(text)} stands in {function.name} {len(found)} times (lines {lines})"
        settle = "name the statement it stands in as well: first = its beginning"
        return _refusal(source, next(iter(found.values())).lineno, "ambiguous-block", message, settle)
    node = next(iter(found.values()))
    return Part(expression=node, start=source.start(node), end=source.end(node))


# -- matching


def _words(text: str) -> str:
    return " ".join(text.split())


def _text(source: Source, node: ast.AST) -> str:
    return source.segment(node).decode()


def _begins(source: Source, statement: ast.stmt, words: str) -> bool:
    wanted = _words(words)
    for text in {_words(_text(source, statement)), _words(_statement_text(source, statement))}:
        if text.startswith(wanted) and not text.startswith("elif"):
            rest = text[len(wanted) :]
            if not (rest and _is_word(wanted[-1]) and _is_word(rest[0])):  # `x = f` does not begin `x = foo`
                return True
    return False


def _is_word(char: str) -> bool:
    return char.isalnum() or char == "_"


def _statement_text(source: Source, statement: ast.stmt) -> str:
    decorators = getattr(statement, "decorator_list", [])
    start = source.start(decorators[0]) - 1 if decorators else source.start(statement)
    return source.body[start : source.end(statement)].decode()


def _is_first_line(source: Source, pair: tuple[list[ast.stmt], int, int], first: str, last: str) -> bool:
    """Whether the words are all of the first lines, so that longer lines which begin alike are not meant."""
    suite, low, high = pair
    ends = [(suite[low], first)] + ([(suite[high], last)] if last.strip() else [])
    return all(
        _words(_statement_text(source, statement).splitlines()[0]) == _words(words.splitlines()[0])
        for statement, words in ends
    )


def _spellings(source: Source, node: ast.expr) -> set[str]:
    """The text of an expression; a generator that is a call's only argument has the call's brackets around it."""
    text = _text(source, node)
    found = {_words(text)}
    if isinstance(node, ast.GeneratorExp):
        found.add(_words(text[1:-1]))
    return found


def _is_value(source: Source, node: ast.expr) -> bool:
    """Whether the node is evaluated as a whole, so that a call can stand for it."""
    if not isinstance(getattr(node, "ctx", ast.Load()), ast.Load) or isinstance(node, _PIECES):
        return False
    if isinstance(node, ast.Tuple) and any(isinstance(each, ast.Slice) for each in node.elts):
        return False
    above = source.parents[node]
    is_annotation = node in (getattr(above, "annotation", None), getattr(above, "returns", None))
    return not is_annotation and not isinstance(above, (ast.JoinedStr, ast.pattern)) and node is not _spec(above)


def _spec(above: ast.AST) -> ast.expr | None:
    return above.format_spec if isinstance(above, ast.FormattedValue) else None


def _stands_in(source: Source, function: Function, node: ast.expr, within: str) -> bool:
    inside = {id(statement) for suite in suites(function) for statement in suite}
    around = [each for each in source.ancestors(node) if isinstance(each, ast.stmt) and id(each) in inside]
    return any(_begins(source, each, within) for each in around)


# -- refusals


def _refusal(source: Source, line: int, code: str, message: str, settle: str) -> Refusal:
    return Refusal(code=code, path=source.path, line=line, message=message, settle=settle)


def _short(text: str) -> str:
    words = _words(text)
    return f"`{words if len(words) <= 60 else words[:57] + '…'}`"


def _nothing(source: Source, function: Function, first: str, last: str) -> Refusal:
    everything = [statement for suite in suites(function) for statement in suite]
    starts = [statement for statement in everything if _begins(source, statement, first)]
    branch = next((each for each in everything if _words(_text(source, each)).startswith("elif")), None)
    if _words(first).startswith("elif") and branch is not None:
        message = f"{_short(first)} is a branch, which can't stand without its `if`"
        return _refusal(source, branch.lineno, "unknown-block", message, "name the `if`, or what is inside the branch")
    if not starts:
        message = f"no statement of {function.name} begins with {_short(first)}"
        return _refusal(source, function.lineno, "unknown-block", message, "copy the beginning of the first statement")
    message = f"no statement behind {_short(first)} (line {starts[0].lineno}) and beside it begins with {_short(last)}"
    settle = "copy the beginning of the last statement, at the same depth as the first"
    return _refusal(source, starts[0].lineno, "unknown-block", message, settle)


def _several(
    source: Source, function: Function, first: str, last: str, pairs: list[tuple[list[ast.stmt], int, int]]
) -> Refusal:
    firsts = sorted({suite[low].lineno for suite, low, _ in pairs})
    lasts = sorted({suite[high].lineno for suite, _, high in pairs})
    words, lines = (first, firsts) if len(firsts) > 1 else (last, lasts)
    message = f"{_short(words)} begins {len(lines)} statements of {function.name} (lines {', '.join(map(str, lines))})"
    settle = "write more of the statement's text, or name a larger block with a beginning of its own"
    return _refusal(source, lines[0], "ambiguous-block", message, settle)


# -- the text of a row


def _row(source: Source, suite: list[ast.stmt], low: int, high: int) -> Part | Refusal:
    first, last = suite[low], suite[high]
    decorators = getattr(first, "decorator_list", [])
    head = source.start(decorators[0]) - 1 if decorators else source.start(first)
    start, end = source.text.line_start(head), source.text.line_end(max(head, source.end(last) - 1))
    before, behind = source.body[start:head], source.body[source.end(last) : end]
    if before.strip(b" \t\x0c") or (behind.split(b"#")[0].strip(b" \t\x0c\r\n;")):
        line = first.lineno if before.strip() else last.lineno
        message = "the block shares a line with code that stays"
        return _refusal(source, line, "shares-line", message, "put the block's statements on lines of their own first")
    above = source.text.line_end(source.end(suite[low - 1]) - 1) if low else 0
    indent = source.body[start:head]
    start = _with_comments_above(source, start, indent, above)
    end = _with_comments_below(source, end, indent, is_last=high == len(suite) - 1)
    return Part(statements=tuple(suite[low : high + 1]), suite=tuple(suite), start=start, end=end)


def _with_comments_above(source: Source, start: int, indent: bytes, lowest: int) -> int:
    """Comment lines directly above belong to the statement they stand above."""
    while start > lowest:
        above = source.text.line_start(start - 1)
        line = source.body[above:start]
        if not line.startswith(indent + b"#"):
            break
        start = above
    return start


def _with_comments_below(source: Source, end: int, indent: bytes, *, is_last: bool) -> int:
    """Comment lines directly below belong to the block where they are deeper, or no statement that stays follows."""
    at = sure = end
    depth = len(indent.expandtabs())
    while at < len(source.body):
        behind = source.text.line_end(at)
        is_comment = source.body[at:behind].lstrip(b" \t\x0c").startswith(b"#")
        here = len(source.text.indent_at(at).expandtabs())
        if not is_comment or here < depth:
            break
        at = behind
        sure = at if here > depth else sure
    next_line = source.body[at : source.text.line_end(at)] if at < len(source.body) else b""
    return at if is_last or not next_line.strip() else sure


def is_docstring(function: Function, statement: ast.stmt) -> bool:
    """Whether the statement is the function's docstring."""
    value = statement.value if isinstance(statement, ast.Expr) else None
    is_text = isinstance(value, ast.Constant) and isinstance(value.value, str)
    return statement is function.body[0] and is_text


def own_nodes(part: Part) -> Iterator[ast.AST]:
    """The nodes that run as part of the function: not those in nested functions, lambdas and class bodies."""
    stack: list[ast.AST] = list(part.nodes)
    while stack:
        node = stack.pop()
        yield node
        if isinstance(node, (*FUNCTIONS, ast.Lambda, ast.ClassDef)):
            continue
        stack.extend(ast.iter_child_nodes(node))
