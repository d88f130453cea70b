"""Attributes of `self` that a block reads when it leaves the class: each becomes a keyword parameter.

Only values that are read: a block that writes attributes, calls methods or uses the object itself has to stay in the
class."""

from __future__ import annotations

import ast
import keyword

from msgspec import Struct
from msgspec.structs import replace

from codemods.schema.hazards import Hazard, Refusal, Severity
from codemods.source.binder import table
from codemods.source.classes import class_at, mro
from codemods.source.flow import attributes, flow_of
from codemods.source.kept_text import keep_printed
from codemods.source.members import MemberKind, members
from codemods.source.scopes import Role
from codemods.source.splice import Edit
from codemods.source.usage import Use, UseKind, self_uses
from codemods.transforms.annotations import annotations_for
from codemods.transforms.block_find import Part
from codemods.transforms.block_host import Host
from codemods.transforms.parameters import How, Needs, Parameter
from codemods.transforms.static_body import unkept
from codemods.transforms.static_hazards import Subject, body_hazards
from codemods.transforms.static_results import Results

_AS_METHOD = 'keep it a method: kind = "method"'
_CALLABLE = frozenset({MemberKind.METHOD, MemberKind.STATIC, MemberKind.CLASS_METHOD})


class SelfReads(Struct, frozen=True, kw_only=True, eq=False):
    """parameters: one an attribute, by first use. edits: inside the block, `self.x` to the parameter's name."""

    parameters: tuple[Parameter, ...] = ()
    edits: tuple[Edit, ...] = ()
    hazards: tuple[Hazard, ...] = ()
    refusals: tuple[Refusal, ...] = ()


def self_reads(host: Host, part: Part, *, annotate: bool) -> SelfReads:
    """What the block reads of the receiver, as parameters."""
    if not host.receiver or host.key is None:
        return SelfReads()
    start, end = host.source.start(part.nodes[0]), host.source.end(part.nodes[-1])
    uses = [use for use in self_uses(host.source, host.function) if start <= host.source.start(use.name) < end]
    if not uses:
        return SelfReads()
    refusals = _refusals(host, uses, end)
    if refusals:
        return SelfReads(refusals=tuple(refusals))
    parameters = _parameters(host, uses, start, end)
    hazards: list[Hazard] = []
    if annotate:
        known = annotations_for(host.files, host.source, host.key, [each.path for each in parameters], "")
        parameters = [replace(each, annotation=known.texts.get(each.path, "")) for each in parameters]
        hazards.extend(known.hazards)
    hazards.extend(_hazards(host, part, parameters, uses))
    edits = [
        Edit(host.source.start(use.node), host.source.end(use.node), each.name.encode())
        for each in parameters
        for use in each.uses
    ]
    kept = keep_printed(host.source, [(edit.start, edit.end) for edit in edits])
    edits += [edit for edit in kept.edits if part.start <= edit.start and edit.end <= part.end]
    printed = [unkept(host.source, at) for at in kept.unkept if part.start <= at < part.end]
    return SelfReads(parameters=tuple(parameters), edits=tuple(edits), hazards=tuple(hazards), refusals=tuple(printed))


def _refusals(host: Host, uses: list[Use], end: int) -> list[Refusal]:
    found: list[Refusal] = []
    callables = _method_names(host)
    for use in uses:
        me = host.receiver
        is_cut = host.source.end(use.node) > end  # the expression is `self` alone, of `self.x`
        if use.kind is UseKind.ESCAPE or use.lookup or is_cut:
            found.append(host.refusal("U106", use.node, f"the block uses {me} itself", _AS_METHOD))
        elif use.kind is not UseKind.READ:
            message = f"the block writes {me}.{use.attribute}"
            found.append(host.refusal("writes-self", use.node, message, _AS_METHOD))
        elif use.attribute in callables:
            message = f"the block calls {me}.{use.attribute}, a method"
            found.append(host.refusal("U106", use.node, message, _AS_METHOD))
    return found


def _method_names(host: Host) -> set[str]:
    assert host.key is not None
    found: set[str] = set()
    for each in mro(host.files, host.key).classes:
        at = class_at(host.files, each)
        if at is not None:
            found.update(name for name, member in members(host.files, *at).items() if member.kind in _CALLABLE)
    return found


def _parameters(host: Host, uses: list[Use], start: int, end: int) -> list[Parameter]:
    groups: dict[str, list[Use]] = {}
    for use in uses:
        groups.setdefault(use.attribute, []).append(use)
    taken = {each.name for each in table(host.source).between(start, end) if each.role is not Role.DECLARE}
    found: list[Parameter] = []
    for attribute, group in groups.items():
        plain = attribute.lstrip("_")
        plain = plain if plain.isidentifier() and not keyword.iskeyword(plain) else f"self_{plain}"
        name = next(each for each in _candidates(plain) if each not in taken)
        taken.add(name)
        found.append(Parameter(name=name, path=attribute, how=How.VALUE, uses=tuple(group)))
    return found


def _candidates(plain: str) -> list[str]:
    return [plain, f"self_{plain}", *(f"self_{plain}_{number}" for number in range(2, 1000))]


def _hazards(host: Host, part: Part, parameters: list[Parameter], uses: list[Use]) -> list[Hazard]:
    """Values read at the call instead of where the block reads them: judged as for a whole method."""
    assert host.key is not None
    statements = list(part.statements) or [ast.copy_location(ast.Expr(part.expression), part.nodes[0])]  # type: ignore[arg-type]
    body = ast.FunctionDef(
        name=host.name, args=host.function.args, body=statements, decorator_list=[], lineno=part.line, col_offset=0
    )
    subject = Subject(
        files=host.files,
        source=host.source,
        function=body,
        key=host.key,
        needs=Needs(receiver=host.receiver, uses=tuple(uses), parameters=tuple(parameters), written={}),
        results=Results(own="", attributes=()),
        flow=flow_of(statements, attributes(host.receiver)),
        has_wrapper=False,
        on_class=host.kind is MemberKind.CLASS_METHOD,
    )
    found = body_hazards(subject)
    return [replace(each, settle=_AS_METHOD) for each in found if _is_told_here(each)]


def _is_told_here(hazard: Hazard) -> bool:
    """U105 is block_check.py's, whose words fit a block."""
    return hazard.code != "U105" or hazard.severity is not Severity.STOP
