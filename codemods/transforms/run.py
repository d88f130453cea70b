"""Runs one stage (the transforms that make one commit): plan, settle hazards, check the output against the input.

Which stages a step has is plan/expand.py's; what is wrong with an output is selfcheck.py's."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any, Protocol, TypeVar

from msgspec import Struct

from codemods.schema.hazards import Hazard, Refusal, Severity, refusal_of
from codemods.schema.result import Finding
from codemods.source.files import FileSet
from codemods.transforms.selfcheck import check_output
from codemods.transforms.transform import Transform

Told = TypeVar("Told", Hazard, Refusal, Finding)


class Done(Struct, frozen=True, kw_only=True, eq=False):
    """A stage that was run. `files` is None when something refuses."""

    files: FileSet | None
    hazards: tuple[Hazard, ...]
    refusals: tuple[Refusal, ...]
    findings: tuple[Finding, ...]


class Places(Protocol):
    """Where the lines of a tree stand for the reader of a report."""

    def told(self, files: FileSet, found: Told) -> Told:
        """The same with a place that the reader has. files: the tree that it was found in."""


def run_stage(
    files: FileSet, parts: list[tuple[Transform, Any]], accept: Mapping[str, str], places: Places | None = None
) -> Done:
    """Every transform of the stage on the files the one before left. accept: codes that are settled, with reasons."""
    hazards: list[Hazard] = []
    findings: list[Finding] = []
    before = files

    def told(found: Iterable[Told]) -> list[Told]:
        return [places.told(files, each) if places is not None else each for each in found]

    for transform, args in parts:
        planned = transform.plan(files, args)
        own = told(planned.hazards)
        hazards.extend(own)
        findings.extend(told(planned.findings))
        refusals = [*told(planned.refusals), *unsettled(own, accept)]
        if refusals or planned.files is None:
            return Done(files=None, hazards=_unique(hazards), refusals=tuple(refusals), findings=tuple(findings))
        files = planned.files
    left = told(check_output(before, files))
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
