"""What could change when a method loses `self`: values read at another time, attributes assigned later, escapes.

Looks at one method and its class; call sites, overrides and decorators are static_calls.py's."""

from __future__ import annotations

import ast
from collections.abc import Iterator

from msgspec import Struct

from codemods.schema.hazards import Hazard, Severity
from codemods.source.classes import ClassKey, class_at, dynamic_lookup, mro
from codemods.source.files import FileSet
from codemods.source.flow import Flow, Risk
from codemods.source.members import Member, MemberKind, instance_attributes, members
from codemods.source.parse import Function, Source
from codemods.source.self_effects import ClassEffects
from codemods.source.usage import UseKind, uses_super
from codemods.transforms.parameters import How, Needs, Parameter
from codemods.transforms.static_body import Results


class Subject(Struct, frozen=True, kw_only=True, eq=False):
    """The method in question, with what is known about it."""

    files: FileSet
    source: Source
    function: Function
    key: ClassKey
    needs: Needs
    results: Results
    flow: Flow
    effects: ClassEffects
    has_wrapper: bool

    def hazard(self, code: str, severity: Severity, line: int, message: str, settle: str) -> Hazard:
        return Hazard(code=code, severity=severity, path=self.source.path, line=line, message=message, settle=settle)


def body_hazards(subject: Subject) -> list[Hazard]:
    """Every hazard of the body, in the order of the codes."""
    found = [*_escapes(subject), *_class_bound(subject)]
    if not any(parameter.how is How.OWNER for parameter in subject.needs.parameters):
        known = _members(subject)
        for parameter in subject.needs.parameters:
            if parameter.attribute in subject.results.attributes:
                found.extend(_late_write(subject, parameter))
                found.extend(_missing_inward(subject, parameter, known))
            else:
                found.extend(_stale_read(subject, parameter, known))
                found.extend(_early_read(subject, parameter, known))
    return sorted(set(found), key=lambda hazard: (hazard.code, hazard.line, hazard.message))


def _members(subject: Subject) -> dict[str, Member]:
    found: dict[str, Member] = {}
    for each in mro(subject.files, subject.key).classes:
        at = class_at(subject.files, each)
        if at is not None:
            found = {**members(subject.files, *at), **found}
    return found


# -- U105, U106


def _class_bound(subject: Subject) -> Iterator[Hazard]:
    for name in uses_super(subject.function):
        yield subject.hazard(
            "U105",
            Severity.STOP,
            name.lineno,
            f"{name.id} needs the class around it, which a function does not have",
            "leave this method in the class, or call the base class by name first",
        )
    for node in ast.walk(subject.function):
        text = node.attr if isinstance(node, ast.Attribute) else node.id if isinstance(node, ast.Name) else ""
        is_own = isinstance(node, ast.Attribute) and any(use.node is node for use in subject.needs.uses)
        if text.startswith("__") and not text.endswith("__") and not is_own:
            yield subject.hazard(
                "U105",
                Severity.STOP,
                node.lineno,  # type: ignore[attr-defined]
                f"{text} is mangled inside the class and would not be outside",
                "give the name a single underscore first",
            )


def _escapes(subject: Subject) -> Iterator[Hazard]:
    if any(parameter.how is How.OWNER for parameter in subject.needs.parameters):
        return
    receiver = subject.needs.receiver
    for use in subject.needs.uses:
        parameter = subject.needs.parameter_of(use)
        if use.kind is UseKind.ESCAPE:
            message = f"{receiver} itself is used here, not one of its attributes"
            settle = f'pass the object: owner = "{_owner_name(subject)}"'
        elif use.kind is UseKind.DELETE:
            message, settle = f"{receiver}.{use.attribute} is deleted here", 'pass the object: owner = "…"'
        elif use.is_late and parameter is not None and parameter.how is not How.LAZY:
            message = f"{receiver}.{use.attribute} is read here after the call may have returned"
            settle = f'pass a getter: lazy = ["{parameter.path}"], or the object: owner = "{_owner_name(subject)}"'
            if use.kind is not UseKind.READ:
                message = f"{receiver}.{use.attribute} is written here after the call may have returned"
                settle = f'pass the object: owner = "{_owner_name(subject)}"'
        else:
            continue
        yield subject.hazard("U106", Severity.STOP, use.node.lineno, message, settle)


def _owner_name(subject: Subject) -> str:
    words = "".join("_" + letter.lower() if letter.isupper() else letter for letter in subject.key.name)
    return words.strip("_").rpartition("_")[2] or "owner"


# -- U101, U102


def _stale_read(subject: Subject, parameter: Parameter, known: dict[str, Member]) -> Iterator[Hazard]:
    """U101: read once at the call; the body read it later, and something in between may have changed it."""
    attribute = parameter.attribute
    member = known.get(attribute)
    if parameter.how is How.LAZY or (member is not None and member.kind in _STABLE):
        return
    line = parameter.uses[0].node.lineno
    lazy = f'read it where it was read: lazy = ["{parameter.path}"]'
    for called, called_line in _called_before(subject, attribute):
        if attribute in subject.effects.reach(called).writes:
            yield subject.hazard(
                "U101",
                Severity.STOP,
                called_line,
                f"{called}() changes {attribute}, which is read at line {line} after this call",
                lazy,
            )
            return
    places = subject.flow.risks_before_read(attribute, Risk.CALL)
    writers = subject.effects.writers(attribute)
    if member is not None and member.kind is MemberKind.ACCESSOR:
        message = f"{attribute} is a property: it runs once, at the call, instead of where the body read it"
        yield subject.hazard("U101", Severity.PROVE, line, message, lazy)
    elif writers and (places := [place for place in places if _can_reach_self(subject, place.node)]):
        message = (
            f"{attribute} is read once, at the call; {', '.join(writers[:3])} may change it before line {line} does"
        )
        yield subject.hazard("U101", Severity.PROVE, places[0].line, message, lazy)


def _can_reach_self(subject: Subject, node: ast.AST) -> bool:
    """Whether running `node` may come back to this object: a suspension lets others run, an attribute that is called
    may be a callback. Anything else has no way to the object but through globals, which the twin runs cover."""
    if isinstance(node, (ast.Await, ast.Yield, ast.YieldFrom, ast.AsyncFor, ast.AsyncWith)):
        return True
    called = {use.node for use in subject.needs.uses if use.is_called and use.attribute not in subject.effects.own}
    return isinstance(node, ast.Call) and node.func in called


_STABLE = frozenset({MemberKind.METHOD, MemberKind.STATIC, MemberKind.CLASS_METHOD, MemberKind.CLASS})


def _called_before(subject: Subject, attribute: str) -> list[tuple[str, int]]:
    """Methods called on `self` at a place that may come before a read of the attribute."""
    lines = {place.line for place in subject.flow.risks_before_read(attribute, Risk.CALL)}
    own = subject.effects.own.get(subject.function.name)
    return [(name, line) for name, line in (own.calls if own else ()) if line in lines]


def _early_read(subject: Subject, parameter: Parameter, known: dict[str, Member]) -> Iterator[Hazard]:
    """U102: read on some paths only; now on all."""
    attribute = parameter.attribute
    if parameter.how in (How.LAZY, How.OPTIONAL, How.DYNAMIC) or attribute in subject.flow.read_on_every_path:
        return
    line = parameter.uses[0].node.lineno
    settle = (
        f'lazy = ["{parameter.path}"] reads it only there; optional = ["{attribute}"] passes None when it is missing'
    )
    member = known.get(attribute)
    if member is not None and member.kind is MemberKind.ACCESSOR:
        message = f"{attribute} is a property and was evaluated on some paths only"
        yield subject.hazard("U102", Severity.PROVE, line, message, settle)
    elif not _is_surely_there(subject, attribute, known):
        message = f"{attribute} is read on some paths only and may not exist yet when the method is called"
        yield subject.hazard("U102", Severity.STOP, line, message, settle)
    elif "." in parameter.path:
        message = f"{parameter.path} was read on some paths only; {attribute} may be None on the others"
        yield subject.hazard("U102", Severity.PROVE, line, message, settle)
    elif dynamic_lookup(subject.files, subject.key):
        message = f"{attribute} was read on some paths only, and the class looks attributes up by code"
        yield subject.hazard("U102", Severity.PROVE, line, message, settle)


def _is_surely_there(subject: Subject, attribute: str, known: dict[str, Member]) -> bool:
    member = known.get(attribute)
    if member is not None and member.kind is not MemberKind.SLOT:
        return True
    if attribute in subject.effects.late_in_init(subject.function.name):
        return False
    assigned = instance_attributes(subject.files, subject.key).get(attribute, [])
    return any(each.is_unconditional and each.method in ("", "__init__") for each in assigned)


# -- U103


def _late_write(subject: Subject, parameter: Parameter) -> Iterator[Hazard]:
    """U103: assigned by the caller after the call, not where it was."""
    attribute = parameter.attribute
    places = subject.flow.risks_after_write(attribute, Risk.CALL)
    if not places:
        return
    lines = {place.line for place in places}
    own = subject.effects.own.get(subject.function.name)
    for called, line in own.calls if own else ():
        if line in lines and attribute in subject.effects.reach(called).reads:
            yield subject.hazard(
                "U103",
                Severity.STOP,
                line,
                f"{called}() reads {attribute}, which is now assigned only after the whole body",
                f"pass the object (owner), or move the assignment of {attribute} behind this call first",
            )
            return
    yield subject.hazard(
        "U103",
        Severity.PROVE,
        places[0].line,
        f"{attribute} is assigned after the call returns; what runs here saw it assigned, and keeps it when it raises",
        "prove it with a twin run, or accept U103 with the reason",
    )


def _missing_inward(subject: Subject, parameter: Parameter, known: dict[str, Member]) -> Iterator[Hazard]:
    """U102 for an attribute whose old value has to come in because some path does not write it."""
    attribute = parameter.attribute
    if attribute not in subject.results.inward or parameter.how is How.OPTIONAL:
        return
    if not _is_surely_there(subject, attribute, known) and attribute not in subject.flow.read_on_every_path:
        yield subject.hazard(
            "U102",
            Severity.STOP,
            parameter.uses[0].node.lineno,
            f"some path does not write {attribute}, so its old value is passed in; it may not exist yet",
            f'optional = ["{attribute}"] passes None when it is missing',
        )
