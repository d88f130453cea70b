"""The one decision behind `unmoved plan` and its `--suggest`: what is in a method's way, and whether a wrapper stays.

A wrapper stays where less is in the way with it than without. Without one the whole tree is searched for callers, so a
survey of a class only asks what is in the way with it; what has nothing in its way there has a plan."""

from __future__ import annotations

from collections.abc import Mapping

from msgspec import Struct
from msgspec.structs import replace

from codemods.schema.errors import PlanError
from codemods.schema.hazards import Hazard, Refusal, Severity
from codemods.schema.plan import ExtractMethod
from codemods.schema.result import Finding
from codemods.source.files import FileSet
from codemods.source.locate import Located
from codemods.source.members import MemberKind, members
from codemods.transforms.make_static import plan as plan_static
from codemods.transforms.parameters import needs_of
from codemods.transforms.transform import Planned

_SHOWN = 3  # reasons for one wrapper


class Decided(Struct, frozen=True, kw_only=True, eq=False):
    """A step with what follows from the code, and why it has a wrapper."""

    step: ExtractMethod
    findings: tuple[Finding, ...] = ()


def obstacles(planned: Planned, accept: Mapping[str, str]) -> tuple[Hazard | Refusal, ...]:
    """What refuses the step as long as nothing else settles it."""
    stops = [each for each in planned.hazards if each.severity is Severity.STOP and not accept.get(each.code)]
    return (*planned.refusals, *stops)


def returning(step: ExtractMethod, located: Located) -> ExtractMethod:
    """The step with the attributes that the method writes, where it names none."""
    needs = needs_of(located.source, located.function, step)
    return replace(step, returns=tuple(needs.written)) if step.returns is None and needs.written else step


def with_wrapper(files: FileSet, step: ExtractMethod, located: Located) -> tuple[ExtractMethod, Planned]:
    """The step as it is when a same-named method stays, and what its first stage comes to."""
    wrapped = replace(returning(step, located), wrapper=True)
    return wrapped, plan_static(files, wrapped)


def decide(files: FileSet, step: ExtractMethod, located: Located, accept: Mapping[str, str]) -> Decided:
    """For a method of a class."""
    assert located.owner is not None
    step = returning(step, located)
    kind = members(files, located.source, located.owner)[located.ref.name].kind
    if step.wrapper or kind is MemberKind.STATIC:
        return Decided(step=step)
    accept = {**accept, **step.accept}
    bare = _without_wrapper(files, step, accept)
    if not bare:
        return Decided(step=step)
    wrapped, planned = with_wrapper(files, step, located)
    if len(obstacles(planned, accept)) >= len(bare):
        return Decided(step=step)
    return Decided(step=wrapped, findings=tuple(_reasons(bare, obstacles(planned, accept))))


def _without_wrapper(files: FileSet, step: ExtractMethod, accept: Mapping[str, str]) -> tuple[Hazard | Refusal, ...]:
    try:
        return obstacles(plan_static(files, step), accept)
    except PlanError as error:  # its calls can't be searched for: a property with a setter is two definitions
        found = Refusal(code=error.code, path=error.path, line=error.line, message=error.message, settle=error.fix)
        return (found,)


def _reasons(bare: tuple[Hazard | Refusal, ...], left: tuple[Hazard | Refusal, ...]) -> list[Finding]:
    """What the wrapper settles, most telling first."""
    gone = [each for each in dict.fromkeys(bare) if each not in left] or list(bare)
    found = [
        Finding(topic=_TOPIC, text=f"{each.code}: {each.message}", path=each.path, line=each.line)
        for each in gone[:_SHOWN]
    ]
    if len(gone) > _SHOWN:
        found.append(Finding(topic=_TOPIC, text=f"and {len(gone) - _SHOWN} more"))
    return found


_TOPIC = "wrapper = true, because without a same-named method this would refuse"
