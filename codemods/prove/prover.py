"""One pair, from its reference to its verdict: every path with collaborators uninterpreted; where that differs,
concrete values decide what is only a matter of interpretation; then controls and power. In this process; see task.py
for the confined one."""

from __future__ import annotations

import time
from collections.abc import Callable

from msgspec import Struct
from msgspec.structs import replace

from codemods.prove.compare import topic
from codemods.prove.concrete import Trial, Trials, domains_of_pair
from codemods.prove.deltas import apply_declared, confirmed, distinct, effects_of
from codemods.prove.domains import Domain
from codemods.prove.explore import Budget
from codemods.prove.inputs import input_term
from codemods.prove.interpreted import is_interpreted
from codemods.prove.opaque import Opaque
from codemods.prove.opening import opened_walk
from codemods.prove.options import ProveOptions
from codemods.prove.pairing import Found, PairOfSubjects, Walk, walk
from codemods.prove.power import Power, measure
from codemods.prove.stable import Twins
from codemods.prove.subject import Subject
from codemods.prove.wording import event, in_words
from codemods.prove.world import World
from codemods.schema.errors import UnmovedError
from codemods.schema.prove import Level, Pair, PairResult, ProofVerdict, inconclusive

_CASES = 1500
_MOST_TOPICS = 40
_CONTROL_PATHS = 60
_CONCRETE_SHARE = 0.5  # of the time of a pair


class Evidence(Struct, eq=False):
    """What was found of a pair before the verdict."""

    pair: PairOfSubjects
    walked: Walk
    domains: dict[str, Domain]
    trial: Trial | None = None
    real: PairOfSubjects | None = None
    found: list[Found] = []
    doubtful: Callable[[Found], bool] = lambda _: False
    reason: str = ""

    def subjects(self, found: Found) -> PairOfSubjects:
        """What showed a difference."""
        is_real = self.trial is not None and any(found is each for each in self.trial.found)
        return self.real if is_real and self.real is not None else self.pair


def prove_pair(twins: Twins, pair: Pair, options: ProveOptions) -> PairResult:
    """The verdict on one pair of callables. Never raises for what the subject does; a pair that can't be loaded, or
    that asks what can't be answered, is inconclusive with the reason."""
    began = time.monotonic()
    try:
        result = _proved(twins, pair, options, began + options.seconds)
    except UnmovedError as error:
        result = inconclusive(pair, str(error))
    except RecursionError:
        result = inconclusive(pair, "the code nests too deeply to be read")
    except Exception as error:  # noqa: BLE001 - code at module level may raise anything when it is sliced out
        result = inconclusive(pair, in_words(f"the code can't be loaded: {type(error).__name__}: {error}"))
    return _timed(result, time.monotonic() - began)


def _timed(result: PairResult, seconds: float) -> PairResult:
    return replace(result, seconds=round(seconds, 3))


def _proved(twins: Twins, pair: Pair, options: ProveOptions, end: float) -> PairResult:
    evidence = _gather(twins, pair, options, end)
    walked, trial = evidence.walked, evidence.trial
    shown = confirmed(distinct(evidence.found), evidence.subjects)
    deltas, stale = apply_declared(shown.deltas, pair.deltas)
    is_exhaustive = walked.is_complete and not walked.found and "unsupported" not in " ".join(walked.cut)
    result = PairResult(
        old=pair.old,
        new=pair.new,
        kind=pair.kind,
        origin=pair.origin,
        verdict=ProofVerdict.AGREES,
        level=Level.EXHAUSTIVE if is_exhaustive or _is_all_declared(walked, evidence) else Level.SAMPLED,
        paths=walked.paths + (trial.paths if trial else 0),
        faults=walked.faults + (trial.faults if trial else 0),
        cases=trial.cases if trial else 0,
        bounded=sum(walked.cut.values()),
        deltas=tuple(deltas),
        unreached=tuple(_unreached(evidence)),
        reason=evidence.reason or shown.gone,
    )
    first = next((each.found for each, one in zip(shown.confirmed, deltas, strict=True) if not one.declared), None)
    if first is not None or stale:
        effects = effects_of(first, evidence.subjects(first)) if first is not None else None
        return replace(result, verdict=ProofVerdict.DIFFERS, reason="; ".join(stale), effects=effects)
    return _judged(result, evidence, options, end, pair)


def _unreached(evidence: Evidence) -> list[str]:
    """Branches that neither the walk nor the cases took: of the old side, then of the new one."""
    found: list[str] = []
    for which in ("old", "new"):
        missed = getattr(evidence.pair, which).loader.unreached()
        if evidence.real is not None:
            other = set(getattr(evidence.real, which).loader.unreached())
            missed = [each for each in missed if each in other]
        found.extend(f"{which} {each}" for each in missed)
    return found


def _is_all_declared(walked: Walk, evidence: Evidence) -> bool:
    return walked.is_complete and evidence.trial is None


def _judged(result: PairResult, evidence: Evidence, options: ProveOptions, end: float, pair: Pair) -> PairResult:
    """A pair of which nothing undeclared differs."""
    if result.reason:
        return replace(result, verdict=ProofVerdict.INCONCLUSIVE)
    control = _controlled(evidence.pair)
    if control:
        return replace(result, verdict=ProofVerdict.INCONCLUSIVE, reason=control)
    if options.mutants == 0:
        return result
    power = measure(evidence.pair, _runner(evidence, pair), pair, options, end)
    return with_power(result, power)


def with_power(result: PairResult, power: Power) -> PairResult:
    """What agrees, with what that is worth."""
    result = replace(result, mutants=power.mutants)
    if power.problem:
        return replace(result, verdict=ProofVerdict.INCONCLUSIVE, reason=power.problem)
    return result


def _gather(twins: Twins, pair: Pair, options: ProveOptions, end: float) -> Evidence:
    """All paths; then, where they differ or could not all be walked, cases."""

    def made(opened: frozenset[str]) -> PairOfSubjects:
        real = frozenset((*pair.real, *options.real))
        return PairOfSubjects(twins, pair.old, pair.new, real_modules=real, same=pair.same, opened=opened)

    def walk_of(subjects: PairOfSubjects, paths: int = options.paths) -> Walk:
        left = max(1.0, end - time.monotonic())
        return walk(subjects, Budget(paths, options.faults, left * _CONCRETE_SHARE))

    subjects = made(frozenset())
    walked = walk_of(subjects)
    if walked.found and not pair.deltas:
        subjects, walked = opened_walk(subjects, walked, made, walk_of)
    domains = domains_of_pair(twins, pair, subjects.old, subjects.new)
    evidence = Evidence(pair=subjects, walked=walked, domains=domains, found=list(walked.found))
    unsupported = [reason for reason in walked.cut if reason.startswith("unsupported")]
    inputs = {input_term(name): domain for name, domain in domains.items()}
    guessed = _guessed(pair, subjects)
    evidence.doubtful = lambda each: is_interpreted(each, inputs, guessed)
    doubtful = [each for each in walked.found if evidence.doubtful(each)]
    is_asked = bool(pair.domains or pair.observed)
    is_needed = bool(doubtful or unsupported or is_asked or (not walked.is_complete and not walked.found))
    if domains and is_needed:
        evidence.found = [each for each in walked.found if each not in doubtful]
        _try_cases(evidence, twins, pair, options, end)
        if (doubtful or unsupported) and not evidence.found:
            evidence.reason = _undecided(evidence)
    if unsupported and evidence.trial is None:
        evidence.reason = f"a path could not be followed: {unsupported[0].removeprefix('unsupported: ')}"
    return evidence


def _undecided(evidence: Evidence) -> str:
    """Why cases that agree do not settle what paths left open (differences that may be a matter of interpretation, or
    an end that was not reached): they could not be followed, or never came where the paths did. Empty where they
    settle it."""
    assert evidence.real is not None and evidence.trial is not None
    if evidence.trial.cut * 2 > evidence.trial.cases:
        return f"concrete values must decide, and most of them could not be followed: {evidence.trial.why}"
    for which in ("old", "new"):
        walked: Subject = getattr(evidence.pair, which)
        reached = getattr(evidence.real, which).loader.reached
        for module, lines in walked.loader.reached.items():
            missed = sorted(lines - reached.get(module, set()), key=abs)
            facts = walked.loader.side.facts(module)
            if missed and facts is not None:
                place = f"{facts.path}:{abs(missed[0])}"
                return f"concrete values must decide, and none of them came to {place} ({which}); name a domain"
    return ""


def _guessed(pair: Pair, subjects: PairOfSubjects) -> set[Opaque]:
    """The parameters that neither side annotates, and no spec and no recording speaks of."""
    told = {each.arg for side in (subjects.old, subjects.new) for each in side.parameters() if each.annotation}
    told.update(pair.domains, *pair.observed)
    return {input_term(each.arg) for each in subjects.old.parameters() if each.arg not in told}


def _try_cases(evidence: Evidence, twins: Twins, pair: Pair, options: ProveOptions, end: float) -> None:
    evidence.real = real = PairOfSubjects(
        twins, pair.old, pair.new, is_real=True, real_modules=frozenset((*pair.real, *options.real)), same=pair.same,
        opened=evidence.pair.opened,
    )  # fmt: skip
    settled = {topic(each.difference, each.seen) for each in evidence.found}
    trials = Trials(real, evidence.domains, seed=options.seed, observed=pair.observed, settled=settled)
    most = 1 if not pair.deltas else _MOST_TOPICS  # what is meant must all be there, and nothing else
    evidence.trial = trial = trials.run(_CASES, end, most=most)
    if trial.case is not None and most == 1:
        smallest = trials.smallest(trial.case)
        trial.found = trials.differences(smallest) or trial.found
        trial.case = smallest
    evidence.found = [*trial.found, *evidence.found]


def _controlled(pair: PairOfSubjects) -> str:
    """Why agreeing would say nothing: a callable that never began, or one that differs from itself. Empty where it
    says something."""
    for side in (pair.old, pair.new):
        begun = side.run(World({}), trace=True)
        if not begun.left:
            return f"{side.reference} could not be called: {event(begun.events[0])}"
        same = pair.twin_of(side)
        walked = walk(same, Budget(_CONTROL_PATHS, _CONTROL_PATHS, 5.0), most=1)
        if walked.found:
            message = walked.found[0].difference.message
            return f"{side.reference} differs from itself: {message}"
    return ""


def _runner(evidence: Evidence, asked: Pair) -> Callable[[PairOfSubjects, float], bool]:
    """Whether a pair is told apart, by the means that showed the real one to agree."""
    walked, real = evidence.walked, evidence.real
    settled = {topic(each.difference, each.seen) for each in evidence.found}
    known = {*walked.known, *((each.difference.code, each.difference.message) for each in evidence.found)}

    def differs(pair: PairOfSubjects, end: float) -> bool:
        left = max(0.5, end - time.monotonic())
        found = walk(pair, Budget(4000, 100_000, left), most=1 if real is None else 20, besides=known).found
        if real is None or not all(evidence.doubtful(each) for each in found):
            return bool(found)
        mutated = real.with_new(pair.new.loader.side)
        trials = Trials(mutated, evidence.domains, seed=0, observed=asked.observed, settled=settled)
        return bool(trials.run(400, end).found)

    return differs
