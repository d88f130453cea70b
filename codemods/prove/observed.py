"""What recordings say of the inputs of a pair: whole calls that a real program made, tried before any drawn case, and
for each input a domain in which the observed values come first.

An observed value counts though the annotation speaks against it. Values that a recording cut, redacted or replaced are
left out: such an input is as if nothing had been recorded. Imports nothing of the subject."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from codemods.prove.domains import (
    Bool,
    Bytes,
    Domain,
    Either,
    Float,
    Int,
    Maybe,
    OneOf,
    Text,
    Tied,
    inner_of,
    unite,
)
from codemods.prove.domains import Opaque as Unknown
from codemods.prove.golden import golden_files
from codemods.prove.golden_values import is_plain, plain_value
from codemods.schema.errors import ConfigError
from codemods.schema.recording import Recording

MOST_CALLS = 256  # of one pair; recordings are one a behaviour
_MOST_VALUES = 32  # of one input

Observed = tuple[dict[str, Any], ...]


class NoneOfThem(ConfigError):
    """The recordings are of other callables."""

    code = "other-recordings"


def observed_calls(places: Sequence[Path], old: str) -> Observed:
    """Of each recorded call of `old` its inputs, as recorded: input -> data. Raises NoRecordings, BadRecording,
    NoneOfThem."""
    files = golden_files(places)
    found = [_inputs(each.recording) for each in files if _is_of(each.recording.target, old)]
    if not found:
        others = sorted({each.recording.target for each in files})
        more = f" and {len(others) - 3} more" if len(others) > 3 else ""
        raise NoneOfThem(
            f"none of the {len(files)} recordings is of {old}; they are of {', '.join(others[:3])}{more}",
            fix="name recordings of the pair's old side, made with `unmoved record`",
        )
    distinct: list[dict[str, Any]] = []
    for each in found:
        if each not in distinct:
            distinct.append(each)
    return tuple(distinct[:MOST_CALLS])


def _is_of(target: str, reference: str) -> bool:
    """Whether a recording's target is what a spec calls by its path or below other roots."""
    module, _, name = reference.partition(":")
    recorded, _, recorded_name = target.partition(":")
    dotted = module.removesuffix(".py").removesuffix("/__init__").removeprefix("./").replace("/", ".")
    return name == recorded_name and (dotted == recorded or dotted.endswith(f".{recorded}"))


def _inputs(recording: Recording) -> dict[str, Any]:
    found: dict[str, Any] = {}
    for name, data in recording.arguments.items():
        _gather(data, "self" if name == recording.receiver else name.lstrip("*"), found)
    for name, value in recording.environment.items():
        if is_plain(plain_value(value)):
            found[f"os.environ['{name}']"] = value
    return found


def _gather(data: Any, place: str, found: dict[str, Any]) -> None:
    if isinstance(data, dict) and "$object" in data:
        for name, inner in data["attributes"].items():
            _gather(inner, f"{place}.{name}", found)
    elif is_plain(plain_value(data)):
        found[place] = data


def observed_cases(calls: Sequence[Mapping[str, Any]], domains: Mapping[str, Domain]) -> list[dict[str, Any]]:
    """The recorded calls as far as they are about inputs with a domain."""
    cases = [{name: plain_value(data) for name, data in call.items() if name in domains} for call in calls]
    return [case for case in cases if case]


def observed_domains(calls: Sequence[Mapping[str, Any]], known: Mapping[str, Domain]) -> dict[str, Domain]:
    """The domain of each input that was observed. known: what code and spec say; an input that they know nothing of
    gets the kinds of the values seen."""
    seen: dict[str, list[Any]] = {}
    for call in calls:
        for name, data in call.items():
            value, values = plain_value(data), seen.setdefault(name, [])
            if len(values) < _MOST_VALUES and all(repr(value) != repr(each) for each in values):
                values.append(value)
    return {name: _united(values, known.get(name)) for name, values in seen.items()}


def _united(values: list[Any], known: Domain | None) -> Domain:
    if isinstance(known, Tied):
        return Tied(_united(values, known.inner), known.ties)
    own = OneOf(tuple(each for each in values if each is not None))
    parts: list[Domain] = [own] if own.values else []
    if known is None or isinstance(inner_of(known), Unknown):
        parts.extend(_kinds(own.values))
    else:
        parts.extend(known.choices if isinstance(known, Either) else [known])
    made = unite(parts) if parts else OneOf((None,))
    is_nothing_else = made == OneOf((None,))
    return made if None not in values or isinstance(made, Maybe) or is_nothing_else else Maybe(made)


def _kinds(values: Sequence[Any]) -> list[Domain]:
    """The whole kind of values that stand alone; of collections only what was seen is known to be one."""
    found: list[Domain] = []
    for kind, domain in (
        (bool, Bool()),
        (int, Int(hints=tuple(each for each in values if type(each) is int))),
        (float, Float(hints=tuple(each for each in values if type(each) is float))),
        (str, Text(exact=tuple(each for each in values if type(each) is str))),
        (bytes, Bytes(exact=tuple(each for each in values if type(each) is bytes))),
    ):
        if any(type(each) is kind for each in values):
            found.append(domain)
    return found
