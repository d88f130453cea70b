"""A pair that is no callable, a class or a module, from its reference to its verdict: walked through every world as a
pair of callables is, on opaque values alone; then controls and power."""

from __future__ import annotations

import time
from functools import partial

from msgspec.structs import replace

from codemods.prove.classes import PairOfClasses
from codemods.prove.deltas import apply_declared, confirmed, distinct, effects_of
from codemods.prove.explore import Budget
from codemods.prove.imports import PairOfModules
from codemods.prove.options import ProveOptions
from codemods.prove.pairing import Walk, walk
from codemods.prove.power import Power, is_told_apart, measured, places_of
from codemods.prove.prover import with_power
from codemods.prove.stable import Twins
from codemods.prove.wording import in_words
from codemods.schema.errors import UnmovedError
from codemods.schema.prove import Level, Pair, PairKind, PairResult, ProofVerdict, inconclusive

_CONTROL_PATHS = 40
_MUTANT_WORLDS = (1000, 2000)  # paths and faults


def prove_other(twins: Twins, pair: Pair, options: ProveOptions) -> PairResult:
    """Never raises for what the subject does; what can't be loaded or followed is inconclusive with the reason."""
    began = time.monotonic()
    try:
        result = _proved(twins, pair, options, began + options.seconds)
    except UnmovedError as error:
        result = inconclusive(pair, str(error))
    except RecursionError:
        result = inconclusive(pair, "the code nests too deeply to be read")
    except Exception as error:  # noqa: BLE001 - code at module level may raise anything when it is sliced out
        reason = in_words(f"the code can't be loaded: {type(error).__name__}: {error}")
        result = inconclusive(pair, reason)
    return replace(result, seconds=round(time.monotonic() - began, 3))


def _proved(twins: Twins, pair: Pair, options: ProveOptions, end: float) -> PairResult:
    made = PairOfClasses if pair.kind is PairKind.CLASS else PairOfModules
    subjects = made(twins, pair.old, pair.new, real_modules=frozenset((*pair.real, *options.real)), same=pair.same)
    budget = Budget(options.paths, options.faults, max(1.0, (end - time.monotonic()) * 0.8))
    walked = walk(subjects, budget)  # type: ignore[arg-type]
    shown = confirmed(distinct(walked.found), lambda _: subjects)  # type: ignore[arg-type,return-value]
    deltas, stale = apply_declared(shown.deltas, pair.deltas)
    result = replace(
        inconclusive(pair, ""),
        verdict=ProofVerdict.AGREES,
        level=_level(subjects, walked),
        paths=walked.paths,
        faults=walked.faults,
        cases=len(subjects.old.plan.sequences) if isinstance(subjects, PairOfClasses) else 0,
        bounded=sum(walked.cut.values()),
        deltas=tuple(deltas),
    )
    first = next((each.found for each, one in zip(shown.confirmed, deltas, strict=True) if not one.declared), None)
    if first is not None or stale:
        effects = effects_of(first, subjects) if first is not None else None  # type: ignore[arg-type]
        return replace(result, verdict=ProofVerdict.DIFFERS, reason="; ".join(stale), effects=effects)
    reason = subjects.problem() or shown.gone or _unfollowed(walked) or _controlled(subjects)
    if reason:
        return replace(result, verdict=ProofVerdict.INCONCLUSIVE, reason=reason)
    return with_power(result, _power(subjects, walked, pair, options, end)) if options.mutants else result


def _power(
    subjects: PairOfClasses | PairOfModules, walked: Walk, pair: Pair, options: ProveOptions, end: float
) -> Power:
    """By mutants of the methods that the calls are for, and of what importing the module runs."""
    is_class = isinstance(subjects, PairOfClasses)
    tested = subjects.new.plan.tested if isinstance(subjects, PairOfClasses) else [(subjects.new.module, "")]

    def differs(mutated: PairOfClasses | PairOfModules, end: float) -> bool:
        budget = Budget(*_MUTANT_WORLDS, max(0.5, end - time.monotonic()))
        return bool(walk(mutated, budget, most=1, besides=walked.known, with_faults=is_class).found)  # type: ignore[arg-type]

    places = places_of(subjects.twins.new, tested)
    return measured(places, partial(is_told_apart, subjects, differs), pair, options, end)


def _level(subjects: PairOfClasses | PairOfModules, walked: Walk) -> Level:
    is_all = walked.is_complete and not walked.cut and isinstance(subjects, PairOfModules) and not subjects.scope.is_cut
    return Level.EXHAUSTIVE if is_all else Level.SAMPLED


def _unfollowed(walked: Walk) -> str:
    cut = [reason for reason in walked.cut if reason.startswith("unsupported")]
    return f"a path could not be followed: {cut[0].removeprefix('unsupported: ')}" if cut else ""


def _controlled(subjects: PairOfClasses | PairOfModules) -> str:
    """Why an identical pair does not agree; empty when it does."""
    for side in (subjects.old, subjects.new):
        walked = walk(subjects.twin_of(side), Budget(_CONTROL_PATHS, _CONTROL_PATHS, 5.0), most=1)  # type: ignore[arg-type]
        if walked.found:
            return f"{side.reference} differs from itself: {walked.found[0].difference.message}"
    return ""
