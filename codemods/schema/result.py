"""What planning and applying a step came to: commits as data, hazards, refusals. Text and exit codes are made above."""

from __future__ import annotations

from enum import Enum

from msgspec import Struct

from codemods.schema.hazards import Hazard, Refusal


class Phase(Enum):
    """prep edits in place, move relocates, post tidies."""

    PREP = "prep"
    MOVE = "move"
    POST = "post"


class FileChange(Struct, frozen=True, kw_only=True):
    """One file of one commit; `before` is None for a new file, `after` is None for a removed one. Raw bytes."""

    path: str
    before: bytes | None
    after: bytes | None


class CommitDraft(Struct, frozen=True, kw_only=True):
    """A commit that has not been written: `body` is the operation in words, without subject and trailers."""

    phase: Phase
    subject: str
    body: str
    changes: tuple[FileChange, ...]


class Finding(Struct, frozen=True, kw_only=True):
    """One fact that `unmoved plan` writes as a comment. `topic`: parameters, results, calls, overrides, strings, …"""

    topic: str
    text: str
    path: str = ""
    line: int = 0


class StepResult(Struct, frozen=True, kw_only=True):
    """`number` counts from 1. With refusals there are no commits."""

    number: int
    do: str
    target: str
    to: str
    commits: tuple[CommitDraft, ...] = ()
    hazards: tuple[Hazard, ...] = ()
    refusals: tuple[Refusal, ...] = ()
    findings: tuple[Finding, ...] = ()


class PlanResult(Struct, frozen=True, kw_only=True):
    """All steps of a plan, in order. Applies whole or not at all: any refusal anywhere means nothing is written."""

    plan_id: str
    steps: tuple[StepResult, ...]

    @property
    def refusals(self) -> tuple[Refusal, ...]:
        return tuple(refusal for step in self.steps for refusal in step.refusals)
