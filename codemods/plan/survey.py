"""Which methods can leave a class, cheapest first, and why the others can't: `unmoved plan MODULE:Class --suggest`.

Looks at each method as if a wrapper stayed, so that nothing outside the class has to be searched for it."""

from __future__ import annotations

import ast

from codemods.plan.check import configured
from codemods.plan.decide import obstacles, with_wrapper
from codemods.schema.config import Settings
from codemods.schema.errors import PlanError
from codemods.schema.hazards import Hazard, Severity
from codemods.schema.plan import ExtractMethod
from codemods.schema.refs import DefRef
from codemods.schema.survey import Candidate
from codemods.source.classes import ClassKey, declarers, names_of, overriders
from codemods.source.files import FileSet
from codemods.source.locate import Located, find, find_method
from codemods.source.members import MemberKind, members
from codemods.source.modules import modules_of
from codemods.source.parse import FUNCTIONS, Function
from codemods.transforms.parameters import Needs, needs_of

_COSTS = {Severity.STOP: 40, Severity.PROVE: 6, Severity.NOTE: 1}


class NotAClass(PlanError):
    """`--suggest` was asked about something else."""

    code = "not-a-class"


def survey(files: FileSet, target: DefRef, settings: Settings) -> tuple[Candidate, ...]:
    """Every method of the class, those that can leave first, the cheapest of them on top.

    Raises NotAClass, UnknownModule, UnknownDefinition."""
    files = configured(files, settings)
    located = find(files, target)
    if not isinstance(located.node, ast.ClassDef):
        raise NotAClass(
            f"{target} is not a class",
            path=located.path,
            line=located.node.lineno,
            fix="name a class with --suggest, or a method with --to",
        )
    key = ClassKey(modules_of(files).module_of(located.path), target.qualname)
    kinds = members(files, located.source, located.node)
    found = []
    for name, member in kinds.items():
        is_accessor = member.kind is MemberKind.ACCESSOR
        if isinstance(member.node, FUNCTIONS) and (len(member.nodes) == 1 or is_accessor):
            found.append(_candidate(files, located, key, name, member.kind, settings))
    return tuple(sorted(found, key=lambda each: (not each.can_leave, each.cost, each.line)))


def _candidate(
    files: FileSet, located: Located, key: ClassKey, name: str, kind: MemberKind, settings: Settings
) -> Candidate:
    method = DefRef(located.ref.module, f"{located.ref.qualname}.{name}")
    found = find_method(files, method)
    function = found.function
    lines = (function.end_lineno or function.lineno) - function.lineno + 1
    if kind is MemberKind.STATIC:
        easy = ("static already: it only has to move",)
        return Candidate(method=name, line=function.lineno, lines=lines, cost=1, reasons=easy, can_leave=True)
    step, planned = with_wrapper(files, ExtractMethod(method=str(method)), found)
    needs = needs_of(found.source, function, step)
    hazards = tuple(hazard for hazard in planned.hazards if not settings.accept.get(hazard.code))
    in_the_way = obstacles(planned, settings.accept)
    reasons = [*_shape(needs, function), *_family(files, key, name)]
    reasons += [f"{each.code}: {each.message}" for each in in_the_way]
    if _is_protocol(name):
        reasons.append("Python calls it by its name: keep a wrapper")
    return Candidate(
        method=name,
        line=function.lineno,
        lines=lines,
        cost=_cost(needs, hazards) + (20 if overriders(files, key, name) else 0),
        reasons=tuple(reasons),
        hazards=hazards,
        can_leave=not in_the_way,
    )


def _is_protocol(name: str) -> bool:
    return name.startswith("__") and name.endswith("__")


def _cost(needs: Needs, hazards: tuple[Hazard, ...]) -> int:
    """A point a parameter, three a result, and what the hazards add."""
    return len(needs.parameters) + 3 * len(needs.written) + sum(_COSTS[hazard.severity] for hazard in hazards)


def _shape(needs: Needs, function: Function) -> list[str]:
    read = len({parameter.attribute for parameter in needs.parameters})
    called = sorted({use.attribute for use in needs.uses if use.is_called})
    found = [f"uses {read} attribute{'s' if read != 1 else ''}" if read else f"does not use {needs.receiver or 'self'}"]
    if needs.written:
        found.append(f"writes {', '.join(needs.written)}")
    if called:
        found.append(f"calls {', '.join(called[:4])}{' …' if len(called) > 4 else ''} on the object")
    if isinstance(function, ast.AsyncFunctionDef):
        found.append("asynchronous")
    return found


def _family(files: FileSet, key: ClassKey, name: str) -> list[str]:
    below, above = overriders(files, key, name), declarers(files, key, name)
    found = [f"overridden in {names_of(below)}: keep a wrapper"] if below else []
    return found + ([f"overrides {names_of(above)}: keep a wrapper"] if above else [])
