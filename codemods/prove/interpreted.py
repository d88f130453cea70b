"""Whether a difference shows only because an operation on an input was left uninterpreted: `x.startswith("[")` against
`x[:1] == "["`. Such a difference is for concrete values to decide."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from typing import Any

from codemods.prove.domains import Domain, Either, Maybe, OneOf, Record, inner_of
from codemods.prove.opaque import ATTR, CALL, GLOBAL, OP, ROOT, Opaque
from codemods.prove.pairing import Found
from codemods.prove.settle import subterms
from codemods.prove.world import World


def is_interpreted(found: Found, domains: Mapping[Opaque, Domain], guessed: Collection[Opaque] = frozenset()) -> bool:
    """Whether the world takes more of an input that has a domain than its values allow, or asks for something computed
    from it, or an effect that differs is computed from it. What is asked of the input itself is consistent anyway.
    guessed: inputs of which nothing but their use says what they are."""
    world = found.seen.world
    difference = found.difference
    events: list[Opaque] = []
    if difference.old_at >= 0:
        events.append(found.seen.old.events[difference.old_at])
    if difference.new_at >= 0:
        events.append(found.seen.new.events[difference.new_at])
    if world.change is not None or any(_is_after(each) for event in events for each in subterms(event)):
        return False  # a call may have changed it: concrete values are given to nobody who would
    for choice in world.trail:
        answer = choice.options[choice.taken]
        if _is_other_error(choice.question, answer, guessed):
            return False
        for each in choice.question[1:]:
            if type(each) is not Opaque or subterms(each).isdisjoint(domains) or _is_what_is_guessed(each, guessed):
                continue
            domain = _domain_of(each, domains)
            if domain is None or not _is_possible(world, choice.question, answer, each, domain):
                return True
    return any(_is_computed(each, domains) for event in events for each in subterms(event))


def _is_what_is_guessed(value: Opaque, guessed: Collection[Opaque]) -> bool:
    """`x is True`, of an input that is said to be a bool for that alone."""
    return value._u_kind is OP and value._u_parts[0] == "is" and value._u_parts[1] in guessed


def _is_after(value: Opaque) -> bool:
    return value._u_kind is OP and value._u_parts[0] in ("after", "yielded from")


def _domain_of(value: Opaque, domains: Mapping[Opaque, Domain]) -> Domain | None:
    """The domain of an input, or of a field of one that is a record; None for what is computed from inputs."""
    if value in domains:
        return domains[value]
    if value._u_kind is not ATTR or type(value._u_parts[0]) is not Opaque:
        return None
    owner = _domain_of(value._u_parts[0], domains)
    record = inner_of(owner) if owner is not None else None
    fields = record.fields if isinstance(record, Record) else ()
    return next((each.domain for each in fields if each.name == value._u_parts[1]), None)


def _is_other_error(question: tuple[Any, ...], answer: Any, guessed: Collection[Opaque]) -> bool:
    """Whether a conversion of a guessed input raises something else than what is asked for: what no value of its domain
    shows, for one that is None does."""
    if question[0] != "isa" or answer or question[2] is not ValueError:
        return False
    value = question[1]
    if type(value) is not Opaque or value._u_kind is not OP or value._u_parts[0] != "raised":
        return False
    cause = value._u_parts[1]
    is_conversion = cause._u_kind is OP and cause._u_parts[0] in ("int", "float") and len(cause._u_parts) == 2
    return is_conversion and cause._u_parts[1] in guessed


def _is_possible(world: World, question: tuple[Any, ...], answer: Any, value: Opaque, domain: Domain) -> bool:
    if question[0] == "none":
        return not answer or can_be_none(domain)
    if question[0] in ("lt", "le", "size", "isa"):
        about = world.facts.known(value)
        return about is None or about.low is None or about.high is None or question[0] in ("size", "isa")
    return question[0] in ("eq", "true", "same", "has")


def can_be_none(domain: Domain) -> bool:
    """Whether None is among its values."""
    domain = inner_of(domain)
    if isinstance(domain, Maybe):
        return True
    if isinstance(domain, OneOf):
        return None in domain.values
    return isinstance(domain, Either) and any(can_be_none(each) for each in domain.choices)


def _is_computed(value: Opaque, domains: Mapping[Opaque, Domain]) -> bool:
    """A term that is neither an input, nor an attribute of one, nor a call that is only handed some."""
    if value._u_kind in (ROOT, GLOBAL, ATTR, "event"):
        return False
    if value._u_kind is CALL:
        callee = value._u_parts[0]
        return type(callee) is Opaque and not subterms(callee).isdisjoint(domains)
    return not subterms(value).isdisjoint(domains)
