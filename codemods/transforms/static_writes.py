"""U103, and U102 of old values: attributes that the method assigned, and that its caller now assigns after the call.

Judges each written attribute; what is only read is static_reads.py's."""

from __future__ import annotations

import ast
from collections.abc import Iterator

from codemods.schema.hazards import Hazard, Refusal, Severity
from codemods.source.flow import Kind, Place, Risk
from codemods.source.flow_failures import writes_on_the_way_out
from codemods.source.members import MemberKind, instance_attributes
from codemods.source.presence import Presence
from codemods.transforms.parameters import How, Parameter
from codemods.transforms.static_failures import is_harmless, may_raise
from codemods.transforms.static_results import returns_of
from codemods.transforms.static_subject import Subject

_OWNER = "pass the object, so that the body goes on writing to it: owner"


def write_refusals(subject: Subject) -> Iterator[Refusal]:
    """Writes that a returned value can't stand for."""
    if subject.needs.is_owner:
        return
    for node in returns_of(subject.function):
        for above in subject.source.ancestors(node):
            if (
                isinstance(above, ast.Try)
                and _writes(subject, above.finalbody)
                and not _is_in(subject, node, above.finalbody)
            ):
                message = "`finally` assigns an attribute after this return has put its values together"
                yield subject.refusal("U103", node.lineno, message, _OWNER)
                break


def _writes(subject: Subject, statements: list[ast.stmt]) -> bool:
    inside = {node for statement in statements for node in ast.walk(statement)}
    return any(use.is_write and use.node in inside for use in subject.needs.uses)


def _is_in(subject: Subject, node: ast.AST, statements: list[ast.stmt]) -> bool:
    return any(above in statements for above in (node, *subject.source.ancestors(node)))


def write_hazards(subject: Subject, parameter: Parameter) -> Iterator[Hazard]:
    """What may be different for one written attribute."""
    attribute = parameter.attribute
    line = next(use.node.lineno for use in parameter.uses if use.is_write)
    runs = subject.accessor(attribute) or ("assigned by " + hook if (hook := subject.hook("__setattr__")) else "")
    if runs:
        message = f"{attribute} is {runs}: its code would run once, after the call, and not where the body assigns"
        yield subject.hazard("U103", Severity.STOP, line, message, _OWNER)
        return
    lock = next((lock for use in parameter.uses if use.is_write and (lock := subject.lock_around(use.node))), "")
    if lock:
        message = f"{attribute} is assigned under {lock}, and would be after {lock} is given back"
        yield subject.hazard("U103", Severity.STOP, line, message, _OWNER)
        return
    stop = _met_by_others(subject, attribute)
    if stop is not None:
        yield stop
        return
    if not subject.flow.leaves_by(Kind.END, Kind.RETURN):
        message = f"{attribute} is assigned and never handed back: this method always raises"
        yield subject.hazard("U103", Severity.STOP, line, message, _OWNER)
        return
    places = [
        place for place in subject.flow.risks_after_write(attribute, Risk.NAME) if may_raise(subject, place, attribute)
    ]
    if any(isinstance(each.node, (ast.Yield, ast.YieldFrom)) for each in places):
        message = (
            f"{attribute} is assigned when the generator has ended; whoever iterates sees the old value until then"
        )
        yield subject.hazard("U103", Severity.STOP, line, message, _OWNER)
        return
    yield from _lost_by_an_error(subject, attribute, places)
    yield from _old_value(subject, parameter, line)


def _lost_by_an_error(subject: Subject, attribute: str, places: list[Place]) -> Iterator[Hazard]:
    """places: where something may raise, or somebody may look, between an assignment and the end."""
    settle = "prove it with a twin run, or accept U103 with the reason"
    if places:
        place = max(places, key=lambda each: each.risk > Risk.OPERATION)
        message = f"{attribute} is assigned after the call returns; {_what(place)} is kept when it raises"
        yield subject.hazard("U103", Severity.PROVE, place.line, message, settle)
        return
    for node in writes_on_the_way_out(subject.flow, attribute, lambda node: is_harmless(subject, node, attribute))[:1]:
        message = f"{attribute} is assigned after the call returns; here it was assigned on the way of an error too"
        yield subject.hazard("U103", Severity.PROVE, node.lineno, message, settle)  # type: ignore[attr-defined]


def _what(place: Place) -> str:
    if place.risk <= Risk.OPERATION:
        return "here it was assigned already, and"
    return "what runs here saw it assigned, and it"


def _met_by_others(subject: Subject, attribute: str) -> Hazard | None:
    """A method called on the object that reads or writes what this one has not assigned yet."""
    after = {place.node: place.line for place in subject.flow.risks_after_write(attribute, Risk.CALL)}
    for use in subject.needs.uses:
        call = subject.source.parents.get(use.node)
        is_recursion = use.attribute == subject.function.name and not subject.has_wrapper
        if not use.is_called or not isinstance(call, ast.Call) or is_recursion:
            continue
        reached = subject.effects.reach(use.attribute)
        line = call.lineno
        if call in after and attribute in reached.reads:
            message = f"{use.attribute}() reads {attribute}, which is now assigned only after the whole body"
            return subject.hazard("U103", Severity.STOP, line, message, _OWNER)
        if attribute in reached.writes and (call in after or attribute in subject.results.inward):
            message = f"{use.attribute}() assigns {attribute} too, and that is lost when the caller assigns it"
            return subject.hazard("U103", Severity.STOP, line, message, _OWNER)
    return None


def _old_value(subject: Subject, parameter: Parameter, line: int) -> Iterator[Hazard]:
    """Some path does not write the attribute, so its old value comes in and is assigned again."""
    attribute = parameter.attribute
    if attribute not in subject.results.inward:
        return
    member = subject.member(attribute)
    there = subject.presence(attribute)
    always_read = attribute in subject.flow.read_on_every_path
    if parameter.how is not How.OPTIONAL and there is not Presence.SURE and not always_read:
        severity = Severity.STOP if there is Presence.UNSURE else Severity.PROVE
        message = (
            f"some path does not write {attribute}, so its old value is passed in; it {subject.lacking(attribute)}"
        )
        settle = f'optional = ["{attribute}"] passes None when it is missing'
        yield subject.hazard("U102", severity, line, message, settle)
    elif attribute in subject.flow.definite_at_returns:
        return
    elif parameter.how is How.OPTIONAL and there is not Presence.SURE:
        message = f"where {attribute} is missing and no path writes it, the caller now sets it to None"
        yield subject.hazard("U103", Severity.PROVE, line, message, "say in `accept` why nobody asks for it then")
    elif member is not None and member.kind is MemberKind.ATTRIBUTE and not _in_init(subject, attribute):
        message = f"{attribute} is a class attribute: a path that does not write it now sets it on the object"
        yield subject.hazard("U103", Severity.PROVE, line, message, "prove it, or say why it makes no difference")


def _in_init(subject: Subject, attribute: str) -> bool:
    assigned = instance_attributes(subject.files, subject.key).get(attribute, [])
    return any(each.method == "__init__" and each.is_unconditional for each in assigned)
