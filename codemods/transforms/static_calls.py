"""The callers of a method that becomes static: each call class-qualified, attributes passed, results assigned.

Refuses where a call can't be rewritten in place; whether the body may lose `self` is static_hazards.py's question."""

from __future__ import annotations

import ast

from msgspec import Struct

from codemods.schema.hazards import Hazard, Refusal, Severity
from codemods.source.classes import ClassKey
from codemods.source.files import FileSet
from codemods.source.parse import Source, load
from codemods.source.sites import CallSite, CallSites, SiteKind, node_at
from codemods.source.splice import Edit, with_newline
from codemods.transforms.adjust_imports import Importer
from codemods.transforms.layout import arguments_edit
from codemods.transforms.parameters import How, Needs, Parameter
from codemods.transforms.static_body import Results

_WRAPPER = "keep a same-named method: wrapper = true"


class Calls(Struct, frozen=True, kw_only=True):
    """Edits by path, and why some places can't have one."""

    edits: dict[str, list[Edit]]
    hazards: tuple[Hazard, ...] = ()
    refusals: tuple[Refusal, ...] = ()


def static_calls(
    files: FileSet,
    sites: CallSites,
    key: ClassKey,
    name: str,
    needs: Needs,
    results: Results,
    own: tuple[str, int, int],
) -> Calls:
    """Rewrite every sure call. own: path and span of the method itself (calls in it pass its own parameters on)."""
    edits: dict[str, list[Edit]] = {}
    hazards: list[Hazard] = []
    refusals: list[Refusal] = []
    importers: dict[str, Importer] = {}
    for site in sites.sites:
        if not site.is_sure:
            hazards.append(_possible(site, key, name))
            continue
        source = load(files, site.path)
        importer = importers.setdefault(site.path, Importer(files, source))
        problem = _problem(source, site, results)
        if problem is not None:
            refusals.append(problem)
            continue
        node = node_at(source, site)
        is_inside = site.path == own[0] and own[1] <= site.start < own[2]
        assert isinstance(node, ast.Call)
        brought = importer.need(key.module, key.qualname.partition(".")[0], style="name", at=site.start)
        hazards.extend(brought.hazards)
        rest = key.qualname.partition(".")[2]
        callee = ".".join(part for part in (brought.text, rest, name) if part)
        call = _Call(source, site, node, callee, needs, results, is_inside, files.line_length)
        edits.setdefault(site.path, []).extend(call.edits())
    for path, importer in importers.items():
        added = importer.edits()
        if added:
            edits.setdefault(path, []).extend(added)
    return Calls(edits=edits, hazards=tuple(hazards), refusals=tuple(refusals))


def _possible(site: CallSite, key: ClassKey, name: str) -> Hazard:
    return Hazard(
        code="U115",
        severity=Severity.STOP,
        path=site.path,
        line=site.line,
        message=f"this may be a call of {key.name}.{name}: {site.reason}",
        settle=f"{_WRAPPER}, or annotate the receiver",
    )


def _problem(source: Source, site: CallSite, results: Results) -> Refusal | None:
    """Why a sure place can't be rewritten; None when it can."""
    if site.kind is SiteKind.REFERENCE or site.kind is SiteKind.DECORATOR:
        return _refusal(site, "U118", "the bound method is passed on here and may be called at any time")
    if site.kind in (SiteKind.SUPER_CALL, SiteKind.CLS_CALL):
        return _refusal(site, "U104", "this call looks the method up on a class that is known only at run time")
    if site.kind in (SiteKind.ACCESS, SiteKind.ASSIGNMENT, SiteKind.DELETION) or not site.is_call:
        return _refusal(site, "U104", f"the method is used here as a value ({site.kind.value})")
    node = node_at(source, site)
    assert isinstance(node, ast.Call)
    receiver = _receiver(site, node)
    if receiver is None or not _is_plain(receiver):
        text = source.segment(receiver).decode() if receiver is not None else "the receiver"
        return _refusal(
            site, "U101", f"{text} would be evaluated once for each attribute that is passed", "bind it to a name first"
        )
    if results.attributes and not _is_statement(source, node):
        return _refusal(site, "U103", "the results can't be assigned in the middle of an expression")
    return None


def _refusal(site: CallSite, code: str, message: str, settle: str = _WRAPPER) -> Refusal:
    return Refusal(code=code, path=site.path, line=site.line, message=message, settle=settle)


def _receiver(site: CallSite, node: ast.Call) -> ast.expr | None:
    if site.kind is SiteKind.CLASS_CALL:
        first = node.args[0] if node.args else None
        return None if isinstance(first, ast.Starred) else first
    return node.func.value if isinstance(node.func, ast.Attribute) else None


def _is_plain(receiver: ast.expr) -> bool:
    """A name or a dotted chain of names: evaluating it again gives the same object and does nothing else."""
    at = receiver
    while isinstance(at, ast.Attribute):
        at = at.value
    return isinstance(at, ast.Name)


def _is_statement(source: Source, call: ast.Call) -> bool:
    """`m()`, `x = m()` or `return m()`, awaited or not: the places where results can be unpacked."""
    node: ast.AST = source.parents[call]
    value: ast.AST = call
    if isinstance(node, ast.Await):
        node, value = source.parents[node], node
    if isinstance(node, ast.Assign):
        return node.value is value and len(node.targets) == 1 and not isinstance(node.targets[0], (ast.Tuple, ast.List))
    return isinstance(node, (ast.Expr, ast.Return))


class _Call:
    """One call and the edits that make it class-qualified."""

    def __init__(
        self,
        source: Source,
        site: CallSite,
        node: ast.Call,
        callee: str,
        needs: Needs,
        results: Results,
        is_inside: bool,
        line_length: int,
    ) -> None:
        self.source, self.node, self.needs, self.results = source, node, needs, results
        self.callee, self.line_length = callee, line_length
        found = _receiver(site, node)
        assert found is not None
        self.receiver = source.segment(found).decode()
        self.is_class_call = site.kind is SiteKind.CLASS_CALL
        self.is_inside = is_inside

    def edits(self) -> list[Edit]:
        extra = [f"{each.name}={self._value(each)}" for each in passed(self.needs, self.results)]
        skip = 1 if self.is_class_call else 0
        edits = arguments_edit(self.source, self.node, extra, self.callee, self.line_length, skip=skip)
        return [*edits, *self._assignment()]

    def _value(self, parameter: Parameter) -> str:
        if self.is_inside and parameter.how is not How.OWNER:
            return parameter.name
        return parameter.argument(self.receiver)

    def _assignment(self) -> list[Edit]:
        if not self.results.attributes:
            return []
        targets = [f"{self.receiver}.{attribute}" for attribute in self.results.attributes]
        statement = self.source.statement_of(self.node)
        start = self.source.start(statement)
        if isinstance(statement, ast.Expr):
            names = ["_", *targets] if self.results.own else targets
            return [Edit(start, start, f"{', '.join(names)} = ".encode())]
        if isinstance(statement, ast.Assign):
            own = self.source.segment(statement.targets[0]).decode()
            end = self.source.end(statement.targets[0])
            if self.results.own:
                return [Edit(start, end, ", ".join([own, *targets]).encode())]
            return [
                Edit(start, end, ", ".join(targets).encode()),
                self._behind(statement, f"{own} = None"),
            ]
        assert isinstance(statement, ast.Return) and statement.value is not None
        head = [self.results.own, *targets] if self.results.own else targets
        behind = f"return {self.results.own}" if self.results.own else "return None"
        value_start = self.source.start(statement.value)
        return [Edit(start, value_start, f"{', '.join(head)} = ".encode()), self._behind(statement, behind)]

    def _behind(self, statement: ast.stmt, text: str) -> Edit:
        at = self.source.end(statement)
        indent = self.source.text.indent_at(self.source.start(statement))
        return Edit(at, at, with_newline(b"\n" + indent + text.encode(), self.source.text.newline))


def passed(needs: Needs, results: Results) -> list[Parameter]:
    """The parameters a caller passes: all but those of attributes that are only written."""
    return [
        each
        for each in needs.parameters
        if each.attribute not in results.attributes or each.attribute in results.inward
    ]
