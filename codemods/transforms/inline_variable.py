"""A local that is assigned once goes away: its value stands where it was read.

A literal may stand anywhere; a name that is never rebound too; anything else only where it is read once, right after
the assignment, before anything else happens. Text in strings never changes."""

from __future__ import annotations

import ast
from collections.abc import Iterator

from codemods.schema.hazards import Hazard, Refusal, Severity
from codemods.schema.refs import DefRef
from codemods.schema.result import Finding
from codemods.source.binder import table
from codemods.source.files import FileSet
from codemods.source.kept_text import keep_printed
from codemods.source.locate import UnknownDefinition, flattened, module_path
from codemods.source.parse import DEFINITIONS, FUNCTIONS, Function, Source, load
from codemods.source.scopes import Occurrence, Role, Scope, ScopeKind, lookup
from codemods.source.splice import Edit, apply_edits, with_newline
from codemods.transforms.inline_brackets import needs_brackets
from codemods.transforms.inline_call import is_literal
from codemods.transforms.inline_order import Steps, Weight, troubles, weight_of
from codemods.transforms.rename_report import hazard, refusal
from codemods.transforms.transform import Planned, refused

_SCOPE_READERS = frozenset({"locals", "vars", "eval", "exec", "dir"})
_QUOTES = (b'"', b"'", b"\\", b"\n", b"#")
_FIRST = {"Expr": "value", "Return": "value", "Assign": "value", "AnnAssign": "value", "If": "test", "Assert": "test"}
_FIRST.update({"Raise": "exc", "For": "iter"})

_Assignment = ast.Assign | ast.AnnAssign


def owning_function(files: FileSet, ref: DefRef) -> tuple[Source, Function] | None:
    """The function whose local a reference names; None when it names something else (or nothing)."""
    source = load(files, module_path(files, ref.module))
    body, around = source.tree.body, None
    for part in ref.qualname.split(".")[:-1]:
        found = [node for node in flattened(body) if isinstance(node, DEFINITIONS) and node.name == part]
        if len(found) != 1:
            return None
        around = found[0]
        body = around.body
    return (source, around) if isinstance(around, FUNCTIONS) else None


def plan_variable(files: FileSet, source: Source, function: Function, name: str) -> Planned:
    """The plan for one local. Raises UnknownDefinition when the function binds no such name."""
    scope = table(source).scope_of(function)
    if name not in scope.bound or name in scope.global_names or name in scope.nonlocal_names:
        near = ", ".join(sorted(scope.bound)[:5])
        raise UnknownDefinition(
            f"{function.name} has no local {name!r}",
            path=source.path,
            line=function.lineno,
            fix=f"name one of its locals: {near}" if near else "name a local of a function",
        )
    variable = _Variable(files, source, scope, name)
    problems = list(variable.refusals())
    return refused(*problems) if problems else variable.planned()


class _Variable:
    def __init__(self, files: FileSet, source: Source, scope: Scope, name: str) -> None:
        self.files, self.source, self.scope, self.name = files, source, scope, name
        self.bound = scope.bound[name]
        self.all = table(source).same(self.bound[0])
        self.uses = [each for each in self.all if each.role is Role.LOAD]

    # -- what forbids it

    def refusals(self) -> Iterator[Refusal]:
        first = self.bound[0]
        if any(each.role is Role.PARAMETER for each in self.bound):
            yield self._refused("not-a-local", first, f"{self.name} is a parameter", "inline the function instead")
            return
        others = [each for each in self.all if each.role not in (Role.LOAD, Role.STORE)]
        if len(self.bound) > 1 or others:
            lines = ", ".join(str(self._line(each)) for each in [*self.bound, *others])
            yield self._refused(
                "assigned-again", first, f"{self.name} is bound more than once: lines {lines}", "split it"
            )
            return
        if self._statement() is None:
            yield self._refused("not-an-assignment", first, f"{self.name} is not assigned by itself", "assign it alone")
            return
        yield from self._reading_scopes()
        yield from self._unreachable()
        yield from self._unsuitable()

    def _statement(self) -> _Assignment | None:
        node = self.bound[0].node
        above = self.source.parents.get(node)
        if isinstance(above, ast.AnnAssign) and above.value is not None and above.target is node:
            return above
        return above if isinstance(above, ast.Assign) and above.targets == [node] else None

    @property
    def statement(self) -> _Assignment:
        found = self._statement()
        assert found is not None
        return found

    @property
    def value(self) -> ast.expr:
        value = self.statement.value
        assert value is not None
        return value

    @property
    def block(self) -> list[ast.stmt]:
        above = self.source.parents[self.statement]
        for field in ("body", "orelse", "finalbody"):
            found = getattr(above, field, [])
            if self.statement in found:
                return list(found)
        raise AssertionError("a statement stands in a block")

    def _line(self, each: Occurrence) -> int:
        return self.source.text.line_of(each.start)

    def _refused(self, code: str, each: Occurrence, message: str, settle: str) -> Refusal:
        return refusal(code, self.source.path, self._line(each), message, settle)

    def _reading_scopes(self) -> Iterator[Refusal]:
        for word in sorted(_SCOPE_READERS):
            for each in table(self.source).named(word):
                call = self.source.parents.get(each.node)
                is_call = isinstance(call, ast.Call) and call.func is each.node
                takes_object = is_call and bool(call.args) and word in {"vars", "dir"}  # type: ignore[union-attr]
                if each.scope is self.scope and is_call and not takes_object and lookup(each.scope, word) is None:
                    message = f"{word}() sees the local {self.name} by its name"
                    yield self._refused("U111", each, message, "leave the local")

    def _unreachable(self) -> Iterator[Refusal]:
        """Every use must come after the assignment in its own block, so that no path misses it."""
        after = self.block[self.block.index(self.statement) + 1 :]
        for use in self.uses:
            holders = [use.node, *self.source.ancestors(use.node)]
            if use.in_annotation or not any(each in after for each in holders):
                message = f"{self.name} is read here on paths that do not pass its assignment"
                yield self._refused("U102", use, message, "leave the local")

    def _unsuitable(self) -> Iterator[Refusal]:
        weight = weight_of(self.source, self.value, self.scope)
        first = self.bound[0]
        if weight is not Weight.PURE and len(self.uses) != 1:
            count = "never" if not self.uses else f"{len(self.uses)} times"
            message = f"the value of {self.name} is read {count}, and evaluated once"
            yield self._refused("U101", first, message, "leave the local")
        if is_literal(self.value):
            return
        names = {each.id for each in ast.walk(self.value) if isinstance(each, ast.Name)}
        for use in self.uses:
            for name in sorted(names):
                if lookup(use.scope, name) is not lookup(self.scope, name):
                    message = f"{name} means something else where {self.name} is read"
                    yield self._refused("U107", use, message, "leave the local")
            if weight is Weight.PURE and self._is_later(use):
                message = f"{self.name} is read when the function made here runs"
                yield self._refused("U101", use, message, "leave the local")
        for name in sorted(names) if weight is Weight.PURE else ():
            home = lookup(self.scope, name)
            if home is not None and home.kind is not ScopeKind.MODULE and len(home.bound[name]) > 1:
                message = f"{name} gets other values, {self.name} keeps the one it had"
                yield self._refused("U101", first, message, "leave the local")

    def _is_later(self, use: Occurrence) -> bool:
        at: Scope | None = use.scope
        while at is not None and at is not self.scope:
            if at.kind is not ScopeKind.COMPREHENSION or isinstance(at.node, ast.GeneratorExp):
                return True
            at = at.parent
        return False

    # -- what it does

    def planned(self) -> Planned:
        edits: list[Edit] = [self._removal()]
        problems: list[Refusal] = []
        kept = keep_printed(self.source, [(use.start, use.end) for use in self.uses])
        edits.extend(kept.edits)
        text = self.source.segment(self.value)
        for use in self.uses:
            above = self.source.parents[use.node]
            is_in_string = any(isinstance(each, ast.JoinedStr) for each in self.source.ancestors(use.node))
            if kept.unkept or (is_in_string and any(mark in text for mark in _QUOTES)):
                problems.append(self._refused("f-string", use, "the value can't stand in this f-string", "leave it"))
            needs = needs_brackets(self.value, text, above, use.node)
            edits.append(Edit(use.start, use.end, b"(" + text + b")" if needs else text))
        if problems:
            return refused(*problems)
        body = apply_edits(self.source.body, edits)
        files = self.files.write(self.source.path, self.source.text.encode(body))
        return Planned(files=files, hazards=tuple(self._hazards()), findings=tuple(self._findings()))

    def _removal(self) -> Edit:
        source, statement = self.source, self.statement
        start, end = source.start(statement), source.end(statement)
        line_start, line_end = source.text.line_start(start), source.text.line_end(end - 1)
        tail = source.body[end:line_end]
        if self.block == [statement]:
            return Edit(start, end, b"pass")
        if source.body[line_start:start].strip() or tail.lstrip(b" \t").startswith(b";"):
            follows = tail.lstrip(b" \t;")
            if follows.strip() and not follows.startswith(b"#"):
                return Edit(start, line_end - len(follows), b"")
            before = source.body[line_start:start].rstrip(b" \t;")
            return Edit(line_start + len(before), end + len(tail) - len(tail.lstrip(b" \t;")), b"")
        return Edit(line_start, line_end, with_newline(b"", source.text.newline))

    def _hazards(self) -> Iterator[Hazard]:
        weight = weight_of(self.source, self.value, self.scope)
        if weight is Weight.PURE:
            return
        settle = "leave the local, or say in `accept` why nothing can come between"
        use = self.uses[0]
        line = self._line(use)
        following = self.block[self.block.index(self.statement) + 1]
        first = getattr(following, _FIRST.get(type(following).__name__, ""), None)
        text = self.source.segment(self.value).decode()
        inside = [first, *ast.walk(first)] if isinstance(first, ast.AST) else []
        if use.node not in inside:
            message = f"other code runs between {text} and the place where {self.name} is read"
            yield hazard("U101", Severity.STOP, self.source.path, line, message, settle)
            return
        events = list(Steps(self.source, self.scope, frozenset({self.name})).of(first))  # type: ignore[arg-type]
        for each in troubles([(self.name, text, weight)], events, frozenset()):
            yield hazard(each.code, Severity.STOP, self.source.path, line, each.message, settle)

    def _findings(self) -> Iterator[Finding]:
        source, statement = self.source, self.statement
        tail = source.body[source.end(statement) : source.text.line_end(source.end(statement) - 1)]
        path, line = source.path, statement.lineno
        yield Finding(topic="calls", text=f"{len(self.uses)} uses of {self.name} inlined", path=path, line=line)
        if b"#" in tail:
            comment = tail[tail.index(b"#") :].strip().decode("utf-8", "replace")
            yield Finding(topic="comments", text=f"a comment goes with the assignment: {comment}", path=path, line=line)
        if isinstance(statement, ast.AnnAssign):
            written = ast.unparse(statement.annotation)
            yield Finding(topic="annotations", text=f"the annotation {written} goes with it", path=path, line=line)
