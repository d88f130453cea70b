"""A pair on concrete values: which inputs have a domain, the cases drawn from them, and both twins run on each, with
all of the trees executed for real and only the outside opaque."""

from __future__ import annotations

import time
from collections.abc import Collection, Iterator, Mapping, Sequence
from typing import Any

from msgspec import Struct, field

from codemods.prove.compare import differences, is_cut, topic
from codemods.prove.domains import Domain, inner_of
from codemods.prove.domains import Opaque as Unknown
from codemods.prove.domains_cases import cases
from codemods.prove.domains_guess import with_hints
from codemods.prove.domains_home import lookup_in
from codemods.prove.domains_infer import domains_of
from codemods.prove.domains_shrink import shrink
from codemods.prove.domains_spec import parse_domain
from codemods.prove.early import early_reads
from codemods.prove.explore import Budget, Exploration
from codemods.prove.inputs import input_term
from codemods.prove.observed import observed_cases, observed_domains
from codemods.prove.opaque import ROOT, Opaque, term
from codemods.prove.pairing import Found, PairOfSubjects, outside_of_runs
from codemods.prove.stable import Twins
from codemods.prove.subject import Subject
from codemods.schema.errors import ConfigError
from codemods.schema.prove import Pair

ALL = "*"
Case = Mapping[str, Any]
_PATHS_A_CASE = 64
_FAULTS_A_CASE = 32


class Trial(Struct, eq=False):
    """What came of the cases. cut: how many could not be followed to their end, and say nothing; why: of the first."""

    cases: int = 0
    cut: int = 0
    why: str = ""
    paths: int = 0
    faults: int = 0
    is_complete: bool = True
    found: list[Found] = field(default_factory=list)
    case: dict[str, Any] | None = None


def domains_of_pair(twins: Twins, pair: Pair, old: Subject, new: Subject) -> dict[str, Domain]:
    """The domains of the inputs that have one: what the spec says, and what both sides' code shows."""
    a, b = twins.old.facts(old.module), twins.new.facts(new.module)
    assert a is not None and b is not None
    found = domains_of(
        old.node,
        a.tree,
        lookup_in(twins.old.files, a.path),
        other=(new.node, b.tree),
        name=a.module,
        other_lookup=lookup_in(twins.new.files, b.path),
    )
    known = {name: domain for name, domain in found.items() if not isinstance(inner_of(domain), Unknown)}
    roots = {term(ROOT, name): name for name in old.roots()}
    known.update(observed_domains(pair.observed, known))
    known = {name: domain for name, domain in known.items() if _is_input(name, roots)}
    if ALL in pair.domains:
        known = {}
    for name, text in pair.domains.items():
        asked = parse_domain(text, name=name)
        _check_input(name, old, new)
        if isinstance(inner_of(asked), Unknown):
            known.pop(name, None)
            continue
        known[name] = with_hints(asked, found[name]) if name in found else asked
    return known


class UnknownInput(ConfigError):
    """A spec gives a domain to what is no input of the pair."""

    code = "unknown-input"


def _check_input(name: str, old: Subject, new: Subject) -> None:
    """Raises UnknownInput: a domain of nothing would change nothing, and nobody would know."""
    heads = [*dict.fromkeys([*old.roots(), *new.roots()]), *(["self"] if old.is_bound() or new.is_bound() else [])]
    is_other = name == ALL or ":" in name or name.startswith("os.environ[")  # the results of calls, the environment
    if not is_other and name.partition(".")[0].partition("[")[0] not in heads:
        raise UnknownInput(
            f"a domain is given for {name}, which is no input of {new.reference}",
            fix=f"the inputs are {', '.join(heads)} with their attributes, and os.environ['NAME']",
        )


def _is_input(name: str, roots: Mapping[Opaque, str]) -> bool:
    head = name.partition(".")[0]
    return head == "self" or term(ROOT, head) in roots


class Trials:
    """Runs cases on one pair. observed: calls of a real program (observed.py), which are tried first."""

    def __init__(
        self, pair: PairOfSubjects, domains: Mapping[str, Domain], *, seed: int, is_faulty: bool = True,
        observed: Sequence[Mapping[str, Any]] = (), settled: Collection[tuple[Any, ...]] = (),
    ) -> None:  # fmt: skip
        self._pair, self._domains, self._seed = pair, dict(domains), seed
        self._observed = observed_cases(observed, self._domains)
        self._settled = frozenset(settled)  # topics of what differs anyhow
        self._is_faulty = is_faulty
        self.budget = Budget(_PATHS_A_CASE, _FAULTS_A_CASE, 5.0)

    def run(self, count: int, end: float, *, most: int = 1) -> Trial:
        """Up to `count` cases, until `end` (monotonic seconds); stops when `most` cases differ, each in something that
        the ones before it did not show."""
        made = Trial()
        failing = 0
        for case in self._cases(count):
            if time.monotonic() > end:
                made.is_complete = False
                break
            made.cases += 1
            found = self.differences(case, made)
            if found:
                failing += 1
                if made.case is None:
                    made.case = dict(case)
                made.found.extend(found)
                self._settled |= {topic(each.difference, each.seen) for each in found} if most > 1 else frozenset()
                if failing >= most:
                    break
        return made

    def _cases(self, count: int) -> Iterator[dict[str, Any]]:
        """What a call that was observed does not tell of is as in the first of the others."""
        others = cases(self._domains, budget=count, seed=self._seed)
        first = next(others, None)
        if first is None:
            return
        yield from ({**first, **each} for each in self._observed)
        yield first
        yield from others

    def differences(self, case: Case, made: Trial | None = None) -> list[Found]:
        """What differs on one case, over the worlds around it."""
        values = {input_term(name): value for name, value in case.items()}
        exploration = Exploration(self._pair.run, self.budget, values)
        found: list[Found] = []
        why = ""
        for seen in exploration.worlds(with_faults=self._is_faulty):
            why = why or is_cut(seen.old) or is_cut(seen.new)
            with outside_of_runs():
                here = differences(seen, self._pair.aliases)
                here += [] if seen.is_fault else early_reads(seen, self._pair.is_certain)
                found.extend(Found(each, seen) for each in here if topic(each, seen) not in self._settled)
            if found:
                break
        if made is not None:
            made.paths += exploration.paths
            made.faults += exploration.faults
            made.cut += bool(why)
            made.why = made.why or why
        return found

    def smallest(self, case: dict[str, Any]) -> dict[str, Any]:
        """A simpler case that differs as well."""
        return shrink(case, lambda each: bool(self.differences(each)), domains=self._domains, tries=200)
