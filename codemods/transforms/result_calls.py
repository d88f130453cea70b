"""What callers do with a tuple that becomes a struct: where they unpack, index or return it they now name the fields.

Anything else (passing it on, looping over it, comparing it) is refused with its place: it would meet another object."""

from __future__ import annotations

import ast
from collections.abc import Iterator

from msgspec import Struct

from codemods.schema.hazards import Hazard, Refusal, Severity
from codemods.source.binder import table
from codemods.source.files import FileSet
from codemods.source.parse import FUNCTIONS, Source, load
from codemods.source.receivers import scope_at
from codemods.source.scopes import Role, Scope, ScopeKind, chain
from codemods.source.sites import CallSite, CallSites, SiteKind, node_at
from codemods.source.splice import Edit
from codemods.transforms.inline_brackets import is_whole

_RESULT = "result"


class Rewritten(Struct, frozen=True, kw_only=True):
    """Edits by path, and why some places can't have one."""

    edits: dict[str, list[Edit]]
    hazards: tuple[Hazard, ...] = ()
    refusals: tuple[Refusal, ...] = ()


def rewrite_calls(files: FileSet, sites: CallSites, fields: tuple[str, ...], own: frozenset[ast.AST]) -> Rewritten:
    """The callers of the function. own: calls in its own returns, which hand the struct on."""
    edits: dict[str, list[Edit]] = {}
    hazards: list[Hazard] = []
    refusals: list[Refusal] = []
    for site in sites.sites:
        if site.kind is SiteKind.IMPORT:
            continue
        if not site.is_sure:
            hazards.append(_possible(site, sites))
            continue
        source = load(files, site.path)
        node = node_at(source, site)
        if node in own:
            continue
        found = _Site(source, site, node, fields).rewritten()
        if isinstance(found, Refusal):
            refusals.append(found)
        else:
            edits.setdefault(site.path, []).extend(found)
    return Rewritten(edits=edits, hazards=tuple(hazards), refusals=tuple(refusals))


def _possible(site: CallSite, sites: CallSites) -> Hazard:
    return Hazard(
        code="U115",
        severity=Severity.STOP,
        path=site.path,
        line=site.line,
        message=f"this may be a call of {sites.ref.name}, whose result would no longer be a tuple: {site.reason}",
        settle="annotate the receiver, then plan again, or accept U115 and say what it is",
    )


class _Site:
    """One sure place and what is done with the result there."""

    def __init__(self, source: Source, site: CallSite, node: ast.AST, fields: tuple[str, ...]) -> None:
        self.source, self.site, self.fields = source, site, fields
        self.node = node
        self.above = source.parents[node]
        if isinstance(self.above, ast.Await):
            self.node, self.above = self.above, source.parents[self.above]

    def rewritten(self) -> list[Edit] | Refusal:
        if not self.site.is_call or self.site.kind is SiteKind.DECORATOR:
            return self._refusal("the function is passed on here; whoever calls it meets the struct")
        is_statement = isinstance(self.above, (ast.Assign, ast.Return))
        if is_statement and scope_at(self.source, self.above).kind is ScopeKind.CLASS:
            return self._refusal("the tuple is unpacked in a class body, which would get one more attribute")
        return self._use(self.node, self.above)

    def _use(self, node: ast.AST, above: ast.AST) -> list[Edit] | Refusal:
        """What the statement or expression around does with a value that was the tuple."""
        if isinstance(above, ast.Expr):
            return []
        if isinstance(above, ast.Subscript) and above.value is node:
            return self._indexed(above)
        if isinstance(above, ast.Return):
            return self._returned(above)
        if isinstance(above, ast.Assign) and above.value is node and len(above.targets) == 1:
            target = above.targets[0]
            if isinstance(target, (ast.Tuple, ast.List)):
                return self._unpacked(above, target)
            if isinstance(target, ast.Name):
                return self._kept(above, target)
        return self._refusal("the tuple is used as a whole here")

    def _refusal(self, message: str, line: int = 0) -> Refusal:
        return Refusal(
            code="result-used-otherwise",
            path=self.site.path,
            line=line or self.site.line,
            message=message,
            settle="unpack the result here first, or read it by index",
        )

    # -- forms

    def _indexed(self, node: ast.Subscript) -> list[Edit] | Refusal:
        """`f()[0]` becomes `f().field`."""
        index = _constant_index(node.slice)
        if index is None or not -len(self.fields) <= index < len(self.fields):
            return self._refusal("the tuple is indexed with something that does not say which result is meant")
        if not isinstance(node.ctx, ast.Load):
            return self._refusal("a result is assigned into the tuple here")
        value_end = self._end_with_brackets(node.value)
        return [Edit(value_end, self.source.end(node), f".{self.fields[index]}".encode())]

    def _end_with_brackets(self, node: ast.expr) -> int:
        """Behind the expression and any brackets of its own, where the `[` of the index comes."""
        at = self.source.end(node)
        return self.source.body.index(b"[", at) if b"[" in self.source.body[at:] else at

    def _returned(self, node: ast.Return) -> list[Edit] | Refusal:
        """A caller that hands the tuple on goes on handing on a tuple."""
        assert node.value is not None
        name = self._fresh()
        start = self.source.start(node)
        values = ", ".join(f"{name}.{field}" for field in self.fields)
        return [
            Edit(start, start + len(b"return"), f"{name} =".encode()),
            self._behind(node, [f"return {values}"]),
        ]

    def _unpacked(self, statement: ast.Assign, target: ast.Tuple | ast.List) -> list[Edit] | Refusal:
        """`a, self.b = f()` becomes `result = f()` and one assignment a field."""
        pairs = self._pairs(target)
        if pairs is None:
            return self._refusal("the tuple is unpacked into another number of targets")
        name = self._fresh()
        lines = [self._assignment(element, group, name) for element, group in pairs]
        start, end = self.source.start(target), self.source.end(target)
        return [Edit(start, end, name.encode()), self._behind(statement, lines)]

    def _pairs(self, target: ast.Tuple | ast.List) -> list[tuple[ast.expr, tuple[str, ...]]] | None:
        """Each target with the fields it takes; a starred one takes what is left over."""
        elements = target.elts
        stars = [position for position, each in enumerate(elements) if isinstance(each, ast.Starred)]
        if not stars:
            is_even = len(elements) == len(self.fields)
            return [(each, (field,)) for each, field in zip(elements, self.fields, strict=True)] if is_even else None
        behind = len(elements) - stars[0] - 1
        if len(elements) - 1 > len(self.fields):
            return None
        middle = len(self.fields) - behind
        taken = [(field,) for field in self.fields[: stars[0]]]
        taken += [self.fields[stars[0] : middle], *((field,) for field in self.fields[middle:])]  # type: ignore[list-item]
        return list(zip(elements, taken, strict=True))

    def _assignment(self, element: ast.expr, group: tuple[str, ...], name: str) -> str:
        if isinstance(element, ast.Starred):
            text = self.source.segment(element.value).decode()
            return f"{text} = [{', '.join(f'{name}.{field}' for field in group)}]"
        segment = self.source.segment(element)
        is_bracketed = isinstance(element, ast.Tuple) and bool(element.elts) and is_whole(segment)
        text = (segment[1:-1].strip() if is_bracketed and b"\n" not in segment else segment).decode()
        return f"{text} = {name}.{group[0]}"

    def _kept(self, statement: ast.Assign, target: ast.Name) -> list[Edit] | Refusal:
        """`t = f()`: the local may be kept where every use of it can be rewritten."""
        scopes = table(self.source)
        scope = scope_at(self.source, statement)
        if scope.kind is not ScopeKind.FUNCTION or len(scope.bound.get(target.id, [])) != 1:
            return self._refusal(f"the tuple is kept as {target.id}, which other code may read")
        edits: list[Edit] = []
        for occurrence in scopes.named(target.id):
            if scopes.resolve(occurrence) is not scope or occurrence.role is Role.STORE:
                continue
            found = self._read_of_local(occurrence.node)
            if found is None:
                line = self.source.text.line_of(occurrence.start)
                return self._refusal(f"{target.id}, the tuple, is used as a whole here", line)
            edits += found
        return edits

    def _read_of_local(self, node: ast.AST) -> list[Edit] | None:
        """Edits for one read of a local that holds the struct; None where it is used as a whole."""
        above = self.source.parents[node]
        if not isinstance(node, ast.Name):
            return None
        if isinstance(above, ast.Subscript) and above.value is node:
            found = self._indexed(above)
            return found if isinstance(found, list) else None
        if isinstance(above, ast.Assign) and above.value is node and len(above.targets) == 1:
            target = above.targets[0]
            pairs = self._pairs(target) if isinstance(target, (ast.Tuple, ast.List)) else None
            if pairs is None or not self._has_line(above):
                return None
            lines = [self._assignment(element, group, node.id) for element, group in pairs]
            start, end = self.source.start(above), self.source.end(above)
            glue = f"\n{self.source.text.indent_at(start).decode()}"
            return [Edit(start, end, glue.join(lines).encode().replace(b"\n", self.source.text.newline))]
        return None

    # -- places

    def _has_line(self, statement: ast.stmt) -> bool:
        """Whether the statement shares its lines with no other."""
        text, start, end = self.source.text, self.source.start(statement), self.source.end(statement)
        before = self.source.body[text.line_start(start) : start]
        behind = self.source.body[end : text.line_end(end)].split(b"#")[0]
        return not before.strip() and not behind.strip()

    def _behind(self, statement: ast.stmt, lines: list[str]) -> Edit:
        """Statements put behind one: on lines of their own, or behind a `;` where the line is shared."""
        text, start, end = self.source.text, self.source.start(statement), self.source.end(statement)
        if not self._has_line(statement):
            return Edit(end, end, "".join(f"; {line}" for line in lines).encode())
        at = text.line_end(end)
        indent = text.indent_at(start)
        made = b"".join(indent + line.encode() + text.newline for line in lines)
        if not self.source.body[:at].endswith((b"\n", b"\r")):
            made = text.newline + made.removesuffix(text.newline)
        return Edit(at, at, made)

    def _fresh(self) -> str:
        """`result`, or the next name that nothing around uses."""
        scope = scope_at(self.source, self.node)
        taken = set(_names_around(self.source, scope))
        name = _RESULT if any(at.kind is ScopeKind.FUNCTION for at in chain(scope)) else f"_{_RESULT}"
        numbered = (f"{name}_{number}" for number in range(2, 1000))
        return next(each for each in (name, *numbered) if each not in taken)


def _constant_index(node: ast.expr) -> int | None:
    sign = 1
    if isinstance(node, ast.UnaryOp) and isinstance(node.op, ast.USub):
        sign, node = -1, node.operand
    is_index = isinstance(node, ast.Constant) and isinstance(node.value, int) and not isinstance(node.value, bool)
    return sign * node.value if is_index else None  # type: ignore[attr-defined]


def _names_around(source: Source, scope: Scope) -> Iterator[str]:
    """Names used in the function (or module) that a statement stands in, and in the scopes inside it."""
    home = next(at for at in chain(scope) if isinstance(at.node, (*FUNCTIONS, ast.Module)))
    start, end = 0, len(source.body)
    if not isinstance(home.node, ast.Module):
        start, end = source.start(home.node), source.end(home.node)
    for occurrence in table(source).between(start, end):
        yield occurrence.name
