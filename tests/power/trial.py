"""One mutant on trial: it is caught when what differs is taken for the same; noticed when what is the same is not taken
so any more, or when it breaks down. Stops at the first that differs and is let through."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from enum import Enum

from codemods.verify.time_limit import TookTooLong, time_limit
from tests.power.mutants import Mutant, in_place
from tests.power.subjects import Subject

_MAX_SECONDS = 5.0


class Outcome(Enum):
    """caught: something that differs is certified. stricter: something mechanical is not certified, and nothing that
    differs is. broken: it ends in an error or in no time. survived: none of these. unreached: no subject comes by."""

    CAUGHT = "caught"
    STRICTER = "stricter"
    BROKEN = "broken"
    SURVIVED = "survived"
    UNREACHED = "unreached"


@dataclass(frozen=True)
class Trial:
    """How it went, and with which subject."""

    outcome: Outcome
    subject: str = ""


def tried(mutant: Mutant, subjects: Sequence[Subject], known: str) -> Trial:
    """known: what told it apart the last time."""
    near = [each for each in subjects if _comes_by(each, mutant)]
    if not near:
        return Trial(Outcome.UNREACHED)
    near.sort(key=lambda each: (each.name != known, each.is_same, each.weight, each.name))
    second = Trial(Outcome.SURVIVED)
    with in_place(mutant):
        for subject in near:
            if subject.is_same and second.outcome is not Outcome.SURVIVED:
                continue
            outcome = _outcome(subject)
            if outcome is Outcome.CAUGHT or (outcome is not Outcome.SURVIVED and subject.name == known):
                return Trial(outcome, subject.name)
            if outcome is not Outcome.SURVIVED and second.outcome is Outcome.SURVIVED:
                second = Trial(outcome, subject.name)
    return second


def _comes_by(subject: Subject, mutant: Mutant) -> bool:
    return mutant.lines is None or any((mutant.module, line) in subject.places for line in mutant.lines)


def _outcome(subject: Subject) -> Outcome:
    """Of one subject; the mutant is in place."""
    try:
        with time_limit(_MAX_SECONDS):
            objections = subject.objections()
    except (TookTooLong, Exception):  # noqa: BLE001 -- whatever a mutant does
        return Outcome.BROKEN
    if subject.is_same:
        return Outcome.STRICTER if objections else Outcome.SURVIVED
    return Outcome.SURVIVED if objections else Outcome.CAUGHT
