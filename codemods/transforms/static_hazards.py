"""What could change when a method loses `self`: values read at another time, attributes assigned later, escapes.

Looks at one method and its class; call sites, overrides and decorators are static_calls.py's and static_place.py's."""

from __future__ import annotations

import ast
from collections.abc import Iterator

from codemods.schema.hazards import Hazard, Refusal, Severity
from codemods.source.usage import Use, UseKind, bare_supers
from codemods.transforms.parameters import How
from codemods.transforms.static_reads import read_hazards, reads_after_write
from codemods.transforms.static_receiver import is_private
from codemods.transforms.static_subject import Subject
from codemods.transforms.static_writes import write_hazards, write_refusals

__all__ = ["Subject", "body_hazards", "body_refusals"]


def body_refusals(subject: Subject) -> list[Refusal]:
    """What no acceptance can settle: the text that would come out could not mean the same."""
    found = [*_bare_supers(subject), *_unpassable(subject), *write_refusals(subject)]
    return sorted(set(found), key=lambda refusal: (refusal.code, refusal.line, refusal.message))


def body_hazards(subject: Subject) -> list[Hazard]:
    """Every hazard of the body, in the order of the codes."""
    found = [*_private_names(subject), *_late_uses(subject), *_looks_at_locals(subject)]
    if not subject.needs.is_owner:
        for parameter in subject.needs.parameters:
            is_written = parameter.attribute in subject.results.attributes and not parameter.lookup[0]
            if is_written:
                found.extend(write_hazards(subject, parameter))
            if not is_written or parameter.attribute in subject.results.inward:
                found.extend(read_hazards(subject, parameter))
    return sorted(set(found), key=lambda hazard: (hazard.code, hazard.line, hazard.message))


# -- U105


def _bare_supers(subject: Subject) -> Iterator[Refusal]:
    for name in bare_supers(subject.function):
        yield subject.refusal(
            "U105",
            name.lineno,
            f"{name.id} needs the class around it, which a function does not have",
            "leave this method in the class, or name class and object in the call: super(Class, self)",
        )


def _private_names(subject: Subject) -> Iterator[Hazard]:
    """Names that mean something else as soon as the text leaves the class."""
    if not subject.leaves:
        return
    passed = set() if subject.needs.is_owner else {use.node for use in subject.needs.uses}
    for node in ast.walk(subject.function):
        if not isinstance(node, (ast.Attribute, ast.Name)):
            continue
        text = node.attr if isinstance(node, ast.Attribute) else node.id
        if is_private(text) and node not in passed:
            yield subject.hazard(
                "U105",
                Severity.STOP,
                node.lineno,
                f"{text} is mangled inside the class and would not be outside",
                "give the name a single underscore first",
            )


# -- U106


def _unpassable(subject: Subject) -> Iterator[Refusal]:
    if subject.needs.is_owner:
        return
    receiver = subject.needs.receiver
    settle = f'pass the object: owner = "{owner_name(subject)}"'
    for use in subject.needs.uses:
        line = use.node.lineno
        if use.kind is UseKind.ESCAPE:
            yield subject.refusal("U106", line, f"{receiver} itself is used here, not one of its attributes", settle)
        elif use.kind is UseKind.DELETE:
            yield subject.refusal("U106", line, f"{receiver}.{use.attribute} is deleted here", settle)
        elif use.is_write and use.is_nested:
            message = (
                f"{receiver}.{use.attribute} is assigned in a scope inside the method, where a local would be another"
            )
            yield subject.refusal("U106", line, message, settle)
        elif is_private(use.attribute) and _is_in_inner_class(subject, use):
            yield subject.refusal("U105", line, f"{use.attribute} is mangled with the name of the inner class", settle)
        elif _is_in_pattern(subject, use):
            message = (
                f"{receiver}.{use.attribute} is compared with in a pattern, where a bare name would match anything"
            )
            yield subject.refusal("U107", line, message, f"{settle}, or compare with `if` first")
        elif use.lookup and _is_looked_up_after(subject, use):
            message = f"{use.attribute} is looked up by name and assigned: the lookup would miss the assignment"
            yield subject.refusal("U106", line, message, settle)


def _is_in_pattern(subject: Subject, use: Use) -> bool:
    """`case self.x:` would become `case x:`, which binds; in `case self.x.y:` and `case self.K():` nothing does."""
    parameter = subject.needs.parameter_of(use)
    node: ast.AST = use.node
    for _ in range(parameter.path.count(".") if parameter is not None else 0):
        node = subject.source.parents[node]
    above = subject.source.parents[node]
    is_lazy = parameter is not None and parameter.how is How.LAZY
    while is_lazy and isinstance(above, ast.Attribute):
        above = subject.source.parents[above]
    return isinstance(above, (ast.MatchValue, ast.MatchMapping)) or (is_lazy and isinstance(above, ast.MatchClass))


def _is_looked_up_after(subject: Subject, use: Use) -> bool:
    is_written = use.attribute in subject.needs.written and not is_private(use.attribute)
    return is_written and reads_after_write(subject, use.key, {use.attribute})


def _is_in_inner_class(subject: Subject, use: Use) -> bool:
    around = subject.source.enclosing(use.node, ast.ClassDef)
    return isinstance(around, ast.ClassDef) and around.lineno > subject.function.lineno


def _late_uses(subject: Subject) -> Iterator[Hazard]:
    """Reads that a closure makes whenever it is called."""
    if subject.needs.is_owner:
        return
    receiver = subject.needs.receiver
    for use in subject.needs.uses:
        parameter = subject.needs.parameter_of(use)
        if not use.is_late or parameter is None or parameter.how is How.LAZY or use.kind is not UseKind.READ:
            continue
        message = f"{receiver}.{use.attribute} is read here after the call may have returned"
        settle = f'pass a getter: lazy = ["{parameter.path}"], or the object: owner = "{owner_name(subject)}"'
        yield subject.hazard("U106", Severity.STOP, use.node.lineno, message, settle)


def _looks_at_locals(subject: Subject) -> Iterator[Hazard]:
    """Code that sees the names of the function: they are other ones now."""
    for node in ast.walk(subject.function):
        if not isinstance(node, ast.Call) or not isinstance(node.func, ast.Name):
            continue
        asks_all = node.func.id in ("locals", "vars", "dir") and not node.args
        if asks_all or (node.func.id in ("eval", "exec") and len(node.args) == 1):
            message = (
                f"{node.func.id}() sees the names of this method, and {subject.needs.receiver} is none of them any more"
            )
            yield subject.hazard("U106", Severity.STOP, node.lineno, message, "accept U106 when it makes no difference")


def owner_name(subject: Subject) -> str:
    """A name for the object: the last word of its class."""
    words = "".join("_" + letter.lower() if letter.isupper() else letter for letter in subject.key.name)
    return words.strip("_").rpartition("_")[2] or "owner"
