"""The callers of a method that becomes static: each call class-qualified, attributes passed, results assigned.

Refuses where a call can't be rewritten in place; whether the body may lose `self` is static_hazards.py's question."""

from __future__ import annotations

import ast
from collections.abc import Iterator

from msgspec import Struct

from codemods.schema.hazards import Hazard, Refusal, Severity
from codemods.source.classes import ClassKey, class_at, mro
from codemods.source.files import FileSet
from codemods.source.imports import Origin, imports_of, origin
from codemods.source.members import MemberKind, members
from codemods.source.modules import modules_of
from codemods.source.parse import FUNCTIONS, Function, Source, load
from codemods.source.receiver_kinds import Known
from codemods.source.receivers import receiver_type
from codemods.source.sites import CallSite, CallSites, SiteKind, node_at
from codemods.source.splice import Edit, apply_edits
from codemods.transforms.adjust_imports import Importer
from codemods.transforms.layout import arguments_edit
from codemods.transforms.parameters import Needs, Parameter
from codemods.transforms.static_assign import assignment, cannot_assign
from codemods.transforms.static_receiver import Receiver, is_in_class, is_plain, may_be_global, may_be_rebound
from codemods.transforms.static_results import Results

_WRAPPER = "keep a same-named method: wrapper = true"


class Calls(Struct, frozen=True, kw_only=True):
    """Edits by path, and why some places can't have one."""

    edits: dict[str, list[Edit]]
    hazards: tuple[Hazard, ...] = ()
    refusals: tuple[Refusal, ...] = ()


class Changed(Struct, frozen=True, kw_only=True, eq=False):
    """The method as its callers will find it: static, called `name`, in the class `key`. path: its file.

    body: the edits of its body, which say what the text in it becomes."""

    key: ClassKey
    name: str
    path: str
    function: Function
    needs: Needs
    results: Results
    body: tuple[Edit, ...]


def static_calls(files: FileSet, sites: CallSites, changed: Changed) -> Calls:
    """Rewrite every sure call."""
    edits: dict[str, list[Edit]] = {}
    hazards: list[Hazard] = []
    refusals: list[Refusal] = []
    importers: dict[str, Importer] = {}
    for site in sites.sites:
        if not site.is_sure:
            hazards.append(_possible(site, changed))
            continue
        source = load(files, site.path)
        call = _Call(files, source, site, changed)
        found = list(call.refusals())
        refusals.extend(found)
        if found:
            continue
        hazards.extend(call.hazards())
        importer = importers.setdefault(site.path, Importer(files, source))
        outer = changed.key.qualname.partition(".")[0]
        style = _style(files, source, changed.key.module, outer)
        brought = importer.need(changed.key.module, outer, style=style, at=site.start)
        hazards.extend(brought.hazards)
        rest = changed.key.qualname.partition(".")[2]
        callee = ".".join(part for part in (brought.text, rest, changed.name) if part)
        is_nested = any(
            site.start < other.start and other.end <= site.end for other in sites.sure if other.path == site.path
        )
        edits.setdefault(site.path, []).extend(call.edits(callee, may_rebuild=not is_nested))
    for path, importer in importers.items():
        added = importer.edits()
        if added:
            edits.setdefault(path, []).extend(added)
    return Calls(edits=edits, hazards=tuple(hazards), refusals=tuple(refusals))


def _style(files: FileSet, source: Source, module: str, name: str) -> str:
    """How the file would name the class: through its module where it imports only that."""
    if modules_of(files).path_of(module) == source.path:
        return "name"
    found = [each for each in imports_of(files, source) if each.is_plain]
    wanted = origin(files, module, name)
    if any(each.attribute == name and origin(files, each.module, name) == wanted for each in found):
        return "name"
    leaf = module.rpartition(".")[2]  # an alias renames what is bound, not what is imported
    as_module = [each for each in found if leaf in (each.attribute, each.module.rpartition(".")[2])]
    as_module = [each for each in as_module if origin(files, each.module, each.attribute) == Origin(module, "")]
    return "module" if any(each.attribute or each.module == module for each in as_module) else "name"


def _possible(site: CallSite, changed: Changed) -> Hazard:
    return Hazard(
        code="U115",
        severity=Severity.STOP,
        path=site.path,
        line=site.line,
        message=f"this may be a call of {changed.key.name}.{changed.function.name}: {site.reason}",
        settle=f"{_WRAPPER}, or annotate the receiver",
    )


class _Call:
    """One place, what is in the way there, and the edits that make it class-qualified."""

    def __init__(self, files: FileSet, source: Source, site: CallSite, changed: Changed) -> None:
        self.files, self.source, self.site, self.changed = files, source, site, changed
        self.needs, self.results = changed.needs, changed.results
        self.node = node_at(source, site)
        self.receiver = self._receiver()
        function = changed.function
        start, end = (source.start(function), source.end(function)) if site.path == changed.path else (0, 0)
        self.is_inside = start <= site.start < end
        self.is_recursion = self.is_inside and getattr(self.receiver, "id", "") == self.needs.receiver

    def _receiver(self) -> ast.expr | None:
        if not isinstance(self.node, ast.Call):
            return None
        if self.site.kind is SiteKind.CLASS_CALL:
            first = self.node.args[0] if self.node.args else None
            return None if isinstance(first, ast.Starred) else first
        return self.node.func.value if isinstance(self.node.func, ast.Attribute) else None

    # -- what is in the way

    def refusals(self) -> Iterator[Refusal]:
        """Why the place can't be rewritten."""
        site = self.site
        if site.kind in (SiteKind.REFERENCE, SiteKind.DECORATOR):
            yield self._refusal("U118", "the bound method is passed on here and may be called at any time")
        elif site.kind in (SiteKind.SUPER_CALL, SiteKind.CLS_CALL):
            yield self._refusal("U104", "this call looks the method up on a class that is known only at run time")
        elif not isinstance(self.node, ast.Call) or site.kind not in _CALLS:
            yield self._refusal("U104", f"the method is used here as a value ({site.kind.value})")
        elif self._is_before_class():
            yield self._refusal(
                "U104", "this call runs while the class is being made, when its name does not exist yet"
            )
        elif self.receiver is None or not is_plain(self.receiver):
            text = self.source.segment(self.receiver).decode() if self.receiver is not None else "the receiver"
            message = f"{text} would be evaluated anew, after the arguments, for each attribute that is passed"
            yield self._refusal("U101", message, "bind it to a name first")
        elif self._binds_receiver():
            yield self._refusal("U101", "an argument gives the receiver's name to something else", "bind it first")
        elif self.results.attributes and not self.is_recursion:
            reason = cannot_assign(self.source, self.node, self.receiver, self.results)
            if reason:
                yield self._refusal("U103", f"the results can't be assigned here: {reason}")
        elif (
            self.results.attributes
            and self.source.enclosing(self.node, *FUNCTIONS, ast.Lambda) is not self.changed.function
        ):
            yield self._refusal("U103", "the results can't be assigned in a function inside the method")

    def _refusal(self, code: str, message: str, settle: str = _WRAPPER) -> Refusal:
        return Refusal(code=code, path=self.site.path, line=self.site.line, message=message, settle=settle)

    def _is_before_class(self) -> bool:
        """In the body of the class itself, outside of its methods."""
        if self.site.path != self.changed.path:
            return False
        below: ast.AST = self.node
        for above in self.source.ancestors(self.node):
            if isinstance(above, (*FUNCTIONS, ast.Lambda)) and (below is above.body or below in _body(above)):
                return False
            if isinstance(above, ast.ClassDef) and below in above.body and self._encloses(above):
                return True
            below = above
        return False

    def _encloses(self, node: ast.ClassDef) -> bool:
        return any(above is node for above in self.source.ancestors(self.changed.function))

    def _binds_receiver(self) -> bool:
        assert isinstance(self.node, ast.Call)
        head = self.receiver
        while isinstance(head, ast.Attribute):
            head = head.value
        name = getattr(head, "id", "")
        walrus = (at for each in _values(self.node) for at in ast.walk(each) if isinstance(at, ast.NamedExpr))
        return any(at.target.id == name for at in walrus)

    def hazards(self) -> Iterator[Hazard]:
        """What could be different although the place can be rewritten."""
        receiver = self.receiver
        assert receiver is not None and isinstance(self.node, ast.Call)
        accessor = self._accessor_in(receiver)
        if accessor:
            message = f"{accessor} is a property: it runs once for each attribute that is passed, after the arguments"
            yield self._hazard(Severity.STOP, message)
            return
        others = [each for each in _values(self.node) if each is not receiver]
        may_run_code = any(isinstance(at, (ast.Call, ast.Await)) for each in others for at in ast.walk(each))
        is_shaky = isinstance(receiver, ast.Attribute) or may_be_global(self.source, receiver)
        if may_run_code and is_shaky and self._passes():
            text = self.source.segment(receiver).decode()
            yield self._hazard(Severity.PROVE, f"{text} is evaluated after the arguments, which may change what it is")

    def _hazard(self, severity: Severity, message: str) -> Hazard:
        return Hazard(
            code="U101",
            severity=severity,
            path=self.site.path,
            line=self.site.line,
            message=message,
            settle="bind the receiver to a name first",
        )

    def _passes(self) -> bool:
        return bool(passed(self.needs, self.results)) or bool(self.results.attributes)

    def _accessor_in(self, receiver: ast.expr) -> str:
        """A property in the chain before the method."""
        while isinstance(receiver, ast.Attribute):
            what = receiver_type(self.files, self.source, receiver.value)
            for key in what.keys if isinstance(what, Known) else ():
                if _is_accessor(self.files, key, receiver.attr):
                    return self.source.segment(receiver).decode()
            receiver = receiver.value
        return ""

    # -- edits

    def edits(self, callee: str, *, may_rebuild: bool) -> list[Edit]:
        assert isinstance(self.node, ast.Call)
        held = self._held()
        extra = [f"{each.name}={self._value(each, held)}" for each in passed(self.needs, self.results)]
        skip = 1 if self.site.kind is SiteKind.CLASS_CALL else 0
        around = assignment(self.source, self.node, self._targets(held), self.results, self.is_recursion)
        start = self.source.start(self.node)
        found = arguments_edit(
            self.source,
            self.node,
            extra,
            callee,
            self.files.line_length,
            skip=skip,
            may_rebuild=may_rebuild and not self.is_inside,
            lead=sum(len(each.text) - (each.end - each.start) for each in around if each.end <= start),
        )
        return [*found, *around]

    def _held(self) -> Receiver:
        assert self.receiver is not None
        is_inside = self.site.path == self.changed.path and is_in_class(
            self.source, self.node, self.changed.key.qualname
        )
        kept = ""
        if may_be_rebound(self.source, self.receiver):
            leaf = self.receiver.attr if isinstance(self.receiver, ast.Attribute) else getattr(self.receiver, "id", "")
            kept = leaf.lstrip("_") or "owner"
        start, end = self.source.start(self.receiver), self.source.end(self.receiver)
        inner = [
            Edit(each.start - start, each.end - start, each.text)
            for each in self.changed.body
            if start <= each.start and each.end <= end
        ]
        return Receiver(
            text=apply_edits(self.source.body[start:end], inner if self.is_inside else ()).decode(),
            owner=self.changed.key.name,
            is_inside=is_inside,
            kept=kept,
        )

    def _value(self, parameter: Parameter, held: Receiver) -> str:
        if self.is_recursion:
            return parameter.name
        return parameter.argument(held)

    def _targets(self, held: Receiver) -> list[str]:
        if self.is_recursion:
            return [self.needs.written[attribute] for attribute in self.results.attributes]
        return [f"{held.text}.{held.spelled(attribute)}" for attribute in self.results.attributes]


_CALLS = (SiteKind.SELF_CALL, SiteKind.INSTANCE_CALL, SiteKind.CLASS_CALL)


def _body(node: ast.AST) -> list[ast.stmt]:
    return node.body if isinstance(node, FUNCTIONS) else []


def _values(call: ast.Call) -> list[ast.expr]:
    return [*call.args, *(each.value for each in call.keywords)]


def _is_accessor(files: FileSet, key: ClassKey, name: str) -> bool:
    for each in mro(files, key).classes:
        at = class_at(files, each)
        member = members(files, *at).get(name) if at is not None else None
        if member is not None:
            return member.kind is MemberKind.ACCESSOR
    return False


def passed(needs: Needs, results: Results) -> list[Parameter]:
    """The parameters a caller passes: all but those of attributes that are only written."""
    return [
        each
        for each in needs.parameters
        if each.is_needed
        and (each.attribute not in results.attributes or each.attribute in results.inward or each.lookup[0])
    ]


def keywords_of_callers(files: FileSet, sites: CallSites) -> frozenset[str] | None:
    """Names that callers pass by keyword; None when some place can't be seen through."""
    found: set[str] = set()
    for site in sites.sites:
        node = node_at(load(files, site.path), site)
        if not site.is_sure or not isinstance(node, ast.Call) or any(each.arg is None for each in node.keywords):
            return None
        found.update(each.arg for each in node.keywords if each.arg is not None)
    return frozenset(found)
