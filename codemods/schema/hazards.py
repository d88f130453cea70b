"""What may change behaviour and what refuses: findings about a step, as data. The pages are in schema/pages.py."""

from __future__ import annotations

from enum import Enum

from msgspec import Struct


class Severity(Enum):
    """STOP refuses, PROVE demands a twin run, NOTE goes into the report."""

    STOP = "stop"
    PROVE = "prove"
    NOTE = "note"


class Hazard(Struct, frozen=True, kw_only=True):
    """One place where a step could change behaviour: a U-code, the place, one sentence, what would settle it.

    `line` is 1-based in the file as it was before the plan; 0 when the hazard concerns the whole file."""

    code: str
    severity: Severity
    path: str
    line: int
    message: str
    settle: str


class Refusal(Struct, frozen=True, kw_only=True):
    """Why a step can't be done. `code` is a U-code (a STOP hazard that nothing settled) or a kebab-case word."""

    code: str
    path: str
    line: int
    message: str
    settle: str


def refusal_of(hazard: Hazard) -> Refusal:
    """The refusal that an unsettled STOP hazard is."""
    return Refusal(code=hazard.code, path=hazard.path, line=hazard.line, message=hazard.message, settle=hazard.settle)
