"""What `unmoved plan` writes for one target: the step with what a person would have to fill in, and what was found.

Plans in memory only. `complete` adds keys that follow from the code; it never accepts a hazard for anybody."""

from __future__ import annotations

from collections.abc import Sequence

from msgspec import Struct
from msgspec.structs import replace

from codemods.plan.check import configured, run_step
from codemods.plan.decide import decide
from codemods.schema.config import Settings
from codemods.schema.errors import PlanError
from codemods.schema.plan import ExtractMethod, Step
from codemods.schema.refs import DefRef
from codemods.schema.result import Finding, StepResult
from codemods.source.classes import ClassKey, declarers, names_of, overriders
from codemods.source.files import FileSet
from codemods.source.locate import find, find_method
from codemods.source.modules import modules_of
from codemods.source.strings import mentions
from codemods.source.usage import UseKind
from codemods.transforms.parameters import needs_of


class Completed(Struct, frozen=True, kw_only=True):
    """A step with the keys that follow from the code, and why it has them."""

    step: Step
    findings: tuple[Finding, ...] = ()


def complete(files: FileSet, step: Step, settings: Settings) -> Completed:
    """The step with `returns` filled in, and `wrapper` where the method can't go without one."""
    if not isinstance(step, ExtractMethod):
        return Completed(step=step)
    files = configured(files, settings)
    located = find_method(files, DefRef.parse(step.method))
    if located.owner is None:
        return Completed(step=step)
    decided = decide(files, step, located, settings.accept)
    return Completed(step=decided.step, findings=decided.findings)


def describe(files: FileSet, step: Step, settings: Settings, found: Sequence[Finding] = ()) -> StepResult:
    """The step's result with everything that was found out about its target. found: already."""
    files = configured(files, settings)
    result, _ = run_step(files, step, 1, settings.accept)
    return replace(result, findings=tuple(dict.fromkeys([*found, *result.findings, *_about(files, step)])))


def _about(files: FileSet, step: Step) -> list[Finding]:
    if ":" not in step.target:
        return []
    try:
        located = (find_method if isinstance(step, ExtractMethod) else find)(files, DefRef.parse(step.target))
    except PlanError:
        return []
    module = modules_of(files).module_of(located.path)
    found: list[Finding] = []
    if located.owner is not None:
        key = ClassKey(module, located.ref.owner)
        below, above = overriders(files, key, located.ref.name), declarers(files, key, located.ref.name)
        if below:
            found.append(Finding(topic="overrides", text=f"overridden in {names_of(below)}"))
        if above:
            found.append(Finding(topic="overrides", text=f"overrides {names_of(above)}"))
        if isinstance(step, ExtractMethod):
            found.extend(_calls_on_self(files, step))
    for mention in mentions(files, module, located.ref.qualname):
        text = f"{mention.certainty}: {mention.kind} {mention.text!r}"
        found.append(Finding(topic="strings", text=text, path=mention.path, line=mention.line))
    return found


def _calls_on_self(files: FileSet, step: ExtractMethod) -> list[Finding]:
    """Methods the body calls on its object: they are passed as callables."""
    located = find_method(files, DefRef.parse(step.method))
    needs = needs_of(located.source, located.function, step)
    return [
        Finding(topic="callbacks", text=f"{use.attribute}() of the object", path=located.path, line=use.node.lineno)
        for use in needs.uses
        if use.is_called and use.kind is UseKind.READ
    ]
