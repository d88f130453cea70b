"""The shape every transform has: frozen args in, a plan out that either has the new files or says why not.

A transform computes everything before anything is written, so applying its plan cannot fail. What a step's `accept`
settles is decided by run.py, not here: a transform reports a STOP hazard and, where it can, the files all the same."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from msgspec import Struct

from codemods.schema.hazards import Hazard, Refusal
from codemods.schema.result import Finding, Phase
from codemods.source.files import FileSet


class Planned(Struct, frozen=True, kw_only=True, eq=False):
    """What one transform would do. `files` is None exactly when there are refusals."""

    files: FileSet | None
    hazards: tuple[Hazard, ...] = ()
    refusals: tuple[Refusal, ...] = ()
    findings: tuple[Finding, ...] = ()


class Words(Struct, frozen=True):
    """A commit's subject (imperative, at most about 72 characters) and the operation in words."""

    subject: str
    body: str


class Transform(Struct, frozen=True, kw_only=True):
    """One catalog refactoring. `plan(files, args)` is pure; `words(args)` describes it for the commit."""

    name: str
    phase: Phase
    args: type
    plan: Callable[[FileSet, Any], Planned]
    words: Callable[[Any], Words]


def refused(*refusals: Refusal, hazards: tuple[Hazard, ...] = ()) -> Planned:
    """A plan that changes nothing."""
    return Planned(files=None, refusals=refusals, hazards=hazards)
