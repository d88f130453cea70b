"""Hypothesis strategies for domains, and cases drawn with them.

Hypothesis mixes constants of whatever modules the process has loaded into its draws, and keeps files of its own in the
working directory. Both are kept out here: draws depend on the domains and the seed alone, and nothing is written."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from codemods.prove.domains import (
    Bool,
    Bytes,
    DictOf,
    Domain,
    Either,
    Float,
    Hole,
    Int,
    ListOf,
    Matching,
    Maybe,
    OneOf,
    Record,
    Text,
    Tied,
    TupleOf,
)
from codemods.prove.domains_levels import PATHS, levels, made, record_of
from codemods.prove.domains_regex import samples
from codemods.prove.domains_text import LETTERS

if TYPE_CHECKING:
    from hypothesis.strategies import SearchStrategy

_BACKEND = "unmoved"
_LONGEST = 10


def strategy(domain: Domain, place: str = "") -> SearchStrategy[Any]:
    """The domain as a hypothesis strategy. Ties are not kept: a strategy knows one input."""
    from hypothesis import strategies as st

    if isinstance(domain, Tied):
        return strategy(domain.inner, place)
    if isinstance(domain, Maybe):
        return st.one_of(strategy(domain.inner, place), st.none())
    if isinstance(domain, Either):
        return st.one_of([strategy(each, place) for each in domain.choices])
    if isinstance(domain, Bool):
        return st.booleans()
    if isinstance(domain, OneOf):
        return st.sampled_from(domain.values)
    if isinstance(domain, Int):
        return st.one_of(st.integers(domain.low, domain.high), st.sampled_from(levels(domain, 40)))
    if isinstance(domain, Float):
        floats = st.floats(domain.low, domain.high)
        return st.one_of(floats, st.sampled_from(levels(domain, 40) or [domain.low or domain.high or 0.0]))
    if isinstance(domain, (Text, Bytes, Matching)):
        return _text(domain)
    return _container(domain, place)


def _text(domain: Text | Bytes | Matching) -> SearchStrategy[Any]:
    from hypothesis import strategies as st

    if isinstance(domain, Matching):
        return st.sampled_from(samples(domain.pattern, 200) or [""])
    if isinstance(domain, Bytes):
        return st.one_of(st.binary(max_size=_LONGEST), st.sampled_from(levels(domain, 40)))
    # Letters come from a list and from code points: the categories of hypothesis are kept in files.
    odd = st.integers(0x20, 0xD7FF).map(chr)
    marks = "".join([*domain.separators, *domain.starts, *domain.ends])
    letters = st.one_of(st.sampled_from((marks + LETTERS) if len(marks) < 40 else LETTERS), odd)
    free = st.lists(letters, max_size=_LONGEST).map("".join)
    known = st.sampled_from(levels(domain, 80))
    return st.one_of(known, free, st.tuples(known, free).map("".join))


def _container(domain: Domain, place: str) -> SearchStrategy[Any]:
    from hypothesis import strategies as st

    if isinstance(domain, ListOf):
        high = domain.high if domain.high is not None else domain.low + 5
        kind = domain.kind
        many = st.lists(strategy(domain.item, f"{place}[]"), min_size=domain.low, max_size=high)
        return many.map(lambda values: made(kind, values))
    if isinstance(domain, TupleOf):
        return st.tuples(*(strategy(each, f"{place}[{at}]") for at, each in enumerate(domain.items)))
    if isinstance(domain, DictOf):
        known = [key for key in domain.known if isinstance(key, (str, int, float, bool, bytes))]
        keys = st.one_of(st.sampled_from(known), strategy(domain.key)) if known else strategy(domain.key)
        return st.dictionaries(keys, strategy(domain.value, f"{place}[]"), max_size=6)
    if isinstance(domain, Record):
        if domain.ref == "pathlib:Path":
            return st.sampled_from(levels(domain, len(PATHS)))
        fields = domain.fields
        columns = st.tuples(*(strategy(each.domain, f"{place}.{each.name}") for each in fields))
        optional = [each.name for each in fields if each.can_miss]
        if domain.ref or not optional:
            return columns.map(lambda values: record_of(domain, values))
        missing = st.sets(st.sampled_from(optional))
        return st.tuples(columns, missing).map(
            lambda both: {key: value for key, value in record_of(domain, both[0]).items() if key not in both[1]}
        )
    return st.just(Hole(place))


def drawn_by_hypothesis(domains: Mapping[str, Domain], count: int, seed: int) -> list[dict[str, Any]]:
    """Up to `count` cases. Empty when this version of hypothesis can't be kept from what is said above."""
    if count < 1 or not domains:
        return []
    from hypothesis import HealthCheck, Phase, given, settings
    from hypothesis import seed as seeded
    from hypothesis import strategies as st

    if not _register():
        return []
    found: list[dict[str, Any]] = []

    def keep(case: dict[str, Any]) -> None:
        found.append(case)

    everything = st.fixed_dictionaries({name: strategy(domain, name) for name, domain in domains.items()})
    run = settings(
        max_examples=count,
        database=None,
        deadline=None,
        phases=[Phase.generate],
        suppress_health_check=list(HealthCheck),
        print_blob=False,
        backend=_BACKEND,
    )(given(everything)(keep))
    seeded(seed)(run)()
    return found


def _register() -> bool:
    """Hypothesis' own way of drawing, without constants of loaded modules, under a name of ours."""
    try:
        from hypothesis.internal.conjecture import providers

        known, base = providers.AVAILABLE_PROVIDERS, providers.HypothesisProvider
    except (ImportError, AttributeError):
        return False
    if _BACKEND not in known:
        known[_BACKEND] = type("Provider", (base,), {"_maybe_draw_constant": lambda *_, **__: None})
    return hasattr(base, "_maybe_draw_constant") or not hasattr(providers, "_get_local_constants")
