"""Runs one stage (the transforms that make one commit): plan, settle hazards, check the output against the input.

Which stages a step has is plan/expand.py's; what is wrong with an output is selfcheck.py's."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from msgspec import Struct

from codemods.schema.hazards import Hazard, Refusal, Severity, refusal_of
from codemods.schema.result import Finding
from codemods.source.files import FileSet
from codemods.transforms.selfcheck import check_output
from codemods.transforms.transform import Transform


class Done(Struct, frozen=True, kw_only=True, eq=False):
    """A stage that was run. `files` is None when something refuses."""

    files: FileSet | None
    hazards: tuple[Hazard, ...]
    refusals: tuple[Refusal, ...]
    findings: tuple[Finding, ...]


def run_stage(files: FileSet, parts: list[tuple[Transform, Any]], accept: Mapping[str, str]) -> Done:
    """Every transform of the stage on the files the one before left. accept: codes that are settled, with reasons."""
    hazards: list[Hazard] = []
    findings: list[Finding] = []
    before = files
    for transform, args in parts:
        planned = transform.plan(files, args)
        hazards.extend(planned.hazards)
        findings.extend(planned.findings)
        refusals = [*planned.refusals, *unsettled(planned.hazards, accept)]
        if refusals or planned.files is None:
            return Done(files=None, hazards=_unique(hazards), refusals=tuple(refusals), findings=tuple(findings))
        files = planned.files
    left = check_output(before, files)
    hazards.extend(left)
    refusals = unsettled(left, accept)
    return Done(
        files=None if refusals else files,
        hazards=_unique(hazards),
        refusals=tuple(refusals),
        findings=tuple(findings),
    )


def unsettled(hazards: tuple[Hazard, ...] | list[Hazard], accept: Mapping[str, str]) -> list[Refusal]:
    """STOP hazards that nothing settles, as refusals."""
    return [
        refusal_of(hazard) for hazard in hazards if hazard.severity is Severity.STOP and not accept.get(hazard.code)
    ]


def _unique(hazards: list[Hazard]) -> tuple[Hazard, ...]:
    return tuple(dict.fromkeys(hazards))
