"""The text of one call once the function is inlined: the body's expression with arguments for parameters.

Where the body only passes arguments on, the call keeps its own layout and gets another callee; else the body's layout
is kept, shifted to the place of the call. The result is parsed again and compared with what it should be."""

from __future__ import annotations

import ast
from collections.abc import Iterable

from msgspec import Struct

from codemods.schema.errors import InternalError
from codemods.source.parse import Source
from codemods.source.splice import Edit, apply_edits, frozen_spans
from codemods.transforms.inline_body import Forwarder
from codemods.transforms.inline_brackets import needs_brackets
from codemods.transforms.inline_call import Argument, Bound, widened
from codemods.transforms.inline_expected import substituted
from codemods.transforms.inline_place import Place
from codemods.transforms.layout import argument_brackets, arguments_edit, exploded_lines, indent_unit


class Inlined(Struct, frozen=True, eq=False):
    """`edits` turn the call into the expression. lost: comments of the call that have no place any more."""

    edits: tuple[Edit, ...]
    lost: tuple[str, ...] = ()


class WrongText(InternalError):
    """What was written for a call is not the expression it should be."""

    code = "wrong-inlined-text"


class Rendering:
    """One call. done: edits of calls inside its arguments. names: free names in the body by span, and what to write."""

    def __init__(
        self,
        forwarder: Forwarder,
        source: Source,
        call: ast.Call,
        bound: Bound,
        *,
        done: list[Edit],
        names: dict[tuple[int, int], str],
        line_length: int,
    ) -> None:
        self.forwarder, self.source, self.call, self.bound = forwarder, source, call, bound
        self.done, self.names, self.line_length = done, names, line_length
        self.body = forwarder.source
        self.place = Place(source, call, line_length)

    def inlined(self) -> Inlined:
        for edits in (self._in_place(), None):
            found = edits if edits is not None else self._anew()
            text = self._result(found)
            if self._is_right(text):
                lost = () if edits is not None else self._comments()
                return Inlined(tuple(found), lost)
        raise WrongText(
            f"inlining {self.forwarder.located.ref} here gave {text.decode()!r}",
            path=self.source.path,
            line=self.call.lineno,
            fix="report this plan as a bug; nothing was written",
        )

    # -- texts

    def argument(self, each: Argument) -> bytes:
        source = self.body if each.is_default else self.source
        text = source.body[each.start : each.end]
        if not each.is_default:
            inside = [edit for edit in self.done if each.start <= edit.start and edit.end <= each.end]
            text = apply_edits(text, [Edit(e.start - each.start, e.end - each.start, e.text) for e in inside])
        return text

    def substitutions(self, start: int, end: int) -> list[Edit]:
        """Edits of the body's text start:end: names by what they are called there, parameters by their arguments."""
        edits = [
            Edit(span[0], span[1], text.encode())
            for span, text in self.names.items()
            if start <= span[0] and span[1] <= end and self.body.body[span[0] : span[1]] != text.encode()
        ]
        empty: list[ast.AST] = []
        for name in dict.fromkeys([self.forwarder.receiver, *(each.name for each in self.forwarder.parameters)]):
            arguments = self.bound.of(name)
            for use in self.forwarder.uses(name) if name else ():
                above = self.body.parents[use]
                if _is_rest(above):
                    if arguments:
                        span = self.body.start(above), self.body.end(above)
                        edits.append(Edit(*span, self._rest(above, arguments)))
                    else:
                        empty.append(above)
                else:
                    edits.append(Edit(self.body.start(use), self.body.end(use), self._one(use, above, arguments[0])))
        for call in {self.body.parents[each] for each in empty}:
            assert isinstance(call, ast.Call)
            edits.extend(self._without(call, empty))
        return [edit for edit in edits if start <= edit.start and edit.end <= end]

    def _one(self, use: ast.Name, above: ast.AST, argument: Argument) -> bytes:
        text = self.argument(argument)
        if use is self.forwarder.expression:
            return text
        return b"(" + text + b")" if needs_brackets(argument.node, text, above, use) else text

    def _rest(self, above: ast.AST, arguments: list[Argument]) -> bytes:
        """`*args` or `**kwargs` of the body's call: the arguments themselves."""
        texts = []
        for each in arguments:
            text = self.argument(each)
            if isinstance(above, ast.keyword):
                text = each.keyword.encode() + b"=" + text if each.keyword else b"**" + text
            texts.append(text)
        return b", ".join(texts)

    def _without(self, call: ast.Call, empty: list[ast.AST]) -> list[Edit]:
        """`*args` and `**kwargs` that get nothing go, with their commas."""
        parts: list[ast.AST] = sorted([*call.args, *call.keywords], key=self.body.start)
        last_kept = max((index for index, part in enumerate(parts) if part not in empty), default=-1)
        edits = [
            Edit(self.body.start(part), self.body.start(parts[index + 1]), b"")
            for index, part in enumerate(parts[: max(last_kept, 0)])
            if part in empty
        ]
        if last_kept + 1 < len(parts):
            before = self.body.end(parts[last_kept]) if last_kept >= 0 else self.body.start(parts[0])
            edits.append(Edit(before, self.body.end(parts[-1]), b""))
        return edits

    # -- the call's own layout

    def _in_place(self) -> list[Edit] | None:
        """Edits that leave the arguments where they are; None when the body does more than pass them on."""
        expression = self.forwarder.expression
        body = self.body.segment(expression)
        if not isinstance(expression, ast.Call) or b"#" in body:
            return None
        wanted = self._passed_on(expression)
        if wanted is None:
            return None
        given = [each for _, each in self.bound.given if each.node is not self._receiver()]
        in_text = sorted(given, key=lambda each: each.start)
        if [each for _, each in wanted if not each.is_default] != in_text or not in_text:
            return None
        num_given = len(in_text)
        if any(not each.is_default for _, each in wanted[num_given:]):
            return None
        extra = [f"{word}={self.argument(each).decode()}" for word, each in wanted[num_given:]]
        callee = self._callee(expression)
        edits = arguments_edit(self.source, self.call, extra, callee.decode(), self.line_length)
        for word, each in wanted[:num_given]:
            edits.extend(self._keyword(word, each))
        is_one_line = self.call.lineno == self.call.end_lineno
        if is_one_line and not self.place.fits(edits):
            return None
        return edits

    def _callee(self, expression: ast.Call) -> bytes:
        """What the body calls, with the brackets it stands in."""
        return self._shifted(self.body.start(expression), argument_brackets(self.body, expression).open).rstrip()

    def _receiver(self) -> ast.expr | None:
        return self.call.func.value if isinstance(self.call.func, ast.Attribute) else None

    def _passed_on(self, expression: ast.Call) -> list[tuple[str, Argument]] | None:
        """The arguments in the order of the body's call, each with its keyword; None when one is more than a name."""
        found: list[tuple[str, Argument]] = []
        for part in [*expression.args, *expression.keywords]:
            value = part.value if isinstance(part, (ast.keyword, ast.Starred)) else part
            if not isinstance(value, ast.Name):
                return None
            arguments = self.bound.of(value.id) if self.forwarder.parameter(value.id) else None
            if arguments is None or len(self.forwarder.uses(value.id)) != 1:
                return None
            if _is_rest(part):
                found.extend((each.keyword, each) for each in arguments)
            else:
                word = part.arg if isinstance(part, ast.keyword) else ""
                found.append((word or "", arguments[0]))
        is_ordered = all(word or not each.is_default for word, each in found)
        return found if is_ordered else None

    def _keyword(self, word: str, each: Argument) -> list[Edit]:
        """The edit that gives an argument of the call the keyword it has in the body's call."""
        if each.keyword == word:
            return []
        if not each.keyword:
            return [Edit(each.start, each.start, f"{word}=".encode())]
        keyword = next(part for part in self.call.keywords if part.value is each.node)
        start = self.source.start(keyword)
        if word:
            return [Edit(start, start + len(each.keyword.encode()), word.encode())]
        return [Edit(start, each.start, b"")]

    # -- the body's layout

    def _anew(self) -> list[Edit]:
        expression = self.forwarder.expression
        start, end = self._span(expression)
        text = self._shifted(start, end)
        is_one_line = b"\n" not in self.body.body[start:end]
        value: ast.expr = expression
        if isinstance(expression, ast.Name) and self.bound.of(expression.id):
            value = self.bound.of(expression.id)[0].node
        needs = needs_brackets(value, text, self.place.above, self.call)
        whole = self.place.whole(b"(" + text + b")" if needs else text)
        if not is_one_line or (self.place.fits(whole) and not self.place.has_trailing_comma):
            return whole
        around = self.place.broken_around(text) if not self.place.has_trailing_comma else None
        if isinstance(expression, ast.Call):
            is_better = around is not None and isinstance(self.place.above, ast.Call)
            return around if is_better and around is not None else self.place.whole(self._exploded(expression))
        return around if around is not None else whole

    def _span(self, expression: ast.expr) -> tuple[int, int]:
        """The expression, with the brackets in which it goes over several lines."""
        statement = self.forwarder.statement
        start, end = widened(self.body, expression, self.body.start(statement), self.body.end(statement))
        is_broken = b"\n" in self.body.segment(expression) and not isinstance(expression, ast.Call)
        return (start, end) if is_broken else (self.body.start(expression), self.body.end(expression))

    def _exploded(self, expression: ast.Call) -> bytes:
        """The body's call with one argument a line."""
        items: list[str] = []
        for part in [*expression.args, *expression.keywords]:
            text = self._shifted(self.body.start(part), self.body.end(part))
            if text.strip():
                items.append(text.decode())
        callee = self._callee(expression)
        if not items:
            return callee + b"()"
        indent = self.place.indent.decode()
        inner = indent + indent_unit(self.source).decode()
        is_spread = self.place.has_trailing_comma
        lines = [f"{inner}{item}," for item in items] if is_spread else exploded_lines(items, inner, self.line_length)
        newline = self.source.text.newline.decode()
        return (callee.decode() + "(" + newline + newline.join(lines) + newline + indent + ")").encode()

    def _shifted(self, start: int, end: int) -> bytes:
        """Body text with its substitutions, its own lines at the indentation of the call."""
        old = self.body.text.indent_at(self.body.start(self.forwarder.statement))
        new = self.place.indent
        frozen = frozen_spans(self.body, start, end)
        newline = self.source.text.newline
        edits = self.substitutions(start, end)
        line = self.body.text.line_end(start)
        while line < end:
            is_frozen = any(low < line < high for low, high in frozen)
            if not is_frozen and not any(edit.start < line < edit.end for edit in edits):
                indent = self.body.text.indent_at(line)
                cut = len(old) if indent.startswith(old) else 0
                ending = len(self.body.text.newline)
                edits.append(Edit(line - ending, line + cut, newline + (new if cut else b"")))
            line = self.body.text.line_end(line)
        inside = [Edit(e.start - start, e.end - start, e.text) for e in edits]
        return apply_edits(self.body.body[start:end], inside)

    # -- checks

    def _comments(self) -> tuple[str, ...]:
        brackets = argument_brackets(self.source, self.call)
        lines = self.source.body[brackets.open : brackets.close].splitlines()
        kept = [line.partition(b"#")[2].strip().decode("utf-8", "replace") for line in lines if b"#" in line]
        return tuple(kept) if not self._is_string_hash() else ()

    def _is_string_hash(self) -> bool:
        inside = ast.walk(self.call)
        return any(isinstance(each, ast.Constant) and "#" in str(each.value) for each in inside)

    def _result(self, edits: list[Edit]) -> bytes:
        """The new text of the call; where the call around it is broken as well, of what stands between its brackets."""
        start = min(self.place.start, *(edit.start for edit in edits)) if edits else self.place.start
        end = max(self.place.end, *(edit.end for edit in edits)) if edits else self.place.end
        whole = [*edits, *(edit for edit in self.done if not covered(edit, edits))]
        inside = [Edit(e.start - start, e.end - start, e.text) for e in whole if start <= e.start and e.end <= end]
        return apply_edits(self.source.body[start:end], inside)

    def _is_right(self, text: bytes) -> bool:
        """Whether the text means the body's expression with the arguments in it."""
        try:
            found = ast.parse(b"(" + text + b"\n)", mode="eval").body
        except (SyntaxError, ValueError):
            return False
        texts: dict[tuple[int, int], list[tuple[str, bytes]]] = {}
        for name in [self.forwarder.receiver, *(each.name for each in self.forwarder.parameters)]:
            given = [(each.keyword, self.argument(each)) for each in self.bound.of(name)]
            for use in self.forwarder.uses(name) if name else ():
                texts[self.body.start(use), self.body.end(use)] = given
        expected = substituted(self.body, self.forwarder.expression, texts, self.names)
        return ast.dump(found) == ast.dump(expected)


def _is_rest(node: ast.AST) -> bool:
    return isinstance(node, ast.Starred) or (isinstance(node, ast.keyword) and node.arg is None)


def covered(edit: Edit, others: Iterable[Edit]) -> bool:
    """Whether another edit replaces the text that this one changes."""
    return any(other.start <= edit.start and edit.end <= other.end and other.start < other.end for other in others)
