"""What was recorded against what a replay gave: every difference, with its place.

Equal means equal as data. Two things are put in relation first: a function that took a method's place is compared with
what the method wrote, and its own module's logger with the old module's."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

import msgspec

from codemods.schema.recording import Difference, Recording

_MAX_SHOWN = 300


def compare(recording: Recording, found: Mapping[str, Any], new_module: str) -> tuple[list[Difference], list[str]]:
    """found: what the worker said of a call that was made. new_module: of the function that was called.

    The differences, and what was put in relation."""
    notes: list[str] = list(found.get("notes", ()))
    expected, writes = _related(recording, found, notes)
    differences = list(_outcome(expected, recording, found))
    differences += _tables("write ", writes, found["writes"])
    differences += _tables("env ", recording.env_writes, found["env_writes"])
    differences += _logs(recording, found["logs"], new_module, notes)
    return differences, notes


def _related(recording: Recording, found: Mapping[str, Any], notes: list[str]) -> tuple[Any, dict[str, Any]]:
    """The result and the writes that are expected."""
    receiver = recording.receiver
    prefix = f"{receiver}."
    own = {place: value for place, value in recording.writes.items() if receiver and place.startswith(prefix)}
    returned = recording.returned
    if found["takes_receiver"] or not own or "returned" not in found:
        return returned, recording.writes
    if returned is not None:
        return _with_result(recording, own, found["returned"], notes) or (returned, recording.writes)
    rest = {place: value for place, value in recording.writes.items() if place not in own}
    notes.append(f"the result is compared with what was written to {', '.join(own)}")
    if len(own) == 1:
        ((place, value),) = own.items()
        return relabelled(value, place, "result"), rest
    names = {place.removeprefix(prefix): (place, value) for place, value in own.items()}
    result = found["returned"]
    if isinstance(result, dict) and "$tuple" in result and _is_order_free(own):
        items = [relabelled(value, place, f"result[{at}]") for at, (place, value) in enumerate(own.items())]
        return {"$tuple": _in_order(items, result["$tuple"])}, rest
    shown = {name: relabelled(value, place, f"result.{name}") for name, (place, value) in sorted(names.items())}
    if isinstance(result, dict) and "$object" in result:
        return {"$object": result["$object"], "label": "result", "attributes": shown}, rest
    return {name: shown[name] for name in result if name in shown} | shown if isinstance(result, dict) else shown, rest


def _with_result(
    recording: Recording, own: Mapping[str, Any], result: Any, notes: list[str]
) -> tuple[Any, dict[str, Any]] | None:
    """For a method that wrote attributes and returned something too, where its replacement returns an object with a
    field for each attribute and one more: that one is the result."""
    if not isinstance(result, dict) or "$object" not in result:
        return None
    names = {place.partition(".")[2]: value for place, value in own.items()}
    more = sorted(result["attributes"].keys() - names.keys())
    if len(more) != 1 or not names.keys() <= result["attributes"].keys():
        return None
    notes.append(f"the result is compared with what was written to {', '.join(own)}; its {more[0]} with the result")
    expected = {
        name: relabelled(value, f"{recording.receiver}.{name}", f"result.{name}") for name, value in names.items()
    }
    expected[more[0]] = relabelled(recording.returned, "result", f"result.{more[0]}")
    shown = {"$object": result["$object"], "label": "result", "attributes": dict(sorted(expected.items()))}
    return shown, {place: value for place, value in recording.writes.items() if place not in own}


def _is_order_free(own: Mapping[str, Any]) -> bool:
    """Writes are kept by name, a tuple goes by place: only values that are all different tell where each belongs."""
    return len({json.dumps(value) for value in own.values()}) == len(own)


def _in_order(items: list[Any], result: Sequence[Any]) -> list[Any]:
    """The expected items in the order of those that were found; what was not found comes last."""
    left = {json.dumps(item): item for item in items}
    ordered = [left.pop(json.dumps(item)) for item in result if json.dumps(item) in left]
    return [*ordered, *left.values()]


def relabelled(data: Any, old: str, new: str) -> Any:
    """The data as if it stood at another place."""
    if isinstance(data, list):
        return [relabelled(item, old, new) for item in data]
    if not isinstance(data, dict):
        return data
    found = {key: relabelled(item, old, new) for key, item in data.items()}
    label = found.get("label")
    if isinstance(label, str) and ("$opaque" in found or "$object" in found) and _is_below(label, old):
        found["label"] = new + label[len(old) :]
    return found


def _is_below(label: str, place: str) -> bool:
    return label == place or label.startswith((f"{place}.", f"{place}["))


def _outcome(expected: Any, recording: Recording, found: Mapping[str, Any]) -> Iterator[Difference]:
    raised = None if recording.raised is None else msgspec.to_builtins(recording.raised)
    got = found.get("raised")
    if raised is None and got is None:
        yield from differing(expected, found["returned"], "result")
    elif raised is None or got is None:
        if raised is None:
            yield Difference(place="exception", expected="", found=_shown(got))
            yield Difference(place="result", expected=_shown(expected), found="")
        else:
            yield Difference(place="exception", expected=_shown(raised), found="")
            yield Difference(place="result", expected="", found=_shown(found.get("returned")))
    else:
        yield from differing(raised, got, "exception")


def differing(expected: Any, found: Any, place: str) -> Iterator[Difference]:
    """Every difference of two values, as deep as it can be told."""
    if json.dumps(expected) == json.dumps(found):
        return
    if isinstance(expected, list) and isinstance(found, list) and len(expected) == len(found):
        for at, (one, other) in enumerate(zip(expected, found, strict=True)):
            yield from differing(one, other, f"{place}[{at}]")
    elif isinstance(expected, dict) and isinstance(found, dict) and _is_alike(expected, found):
        for name, inner in expected.items():
            step = place if name.startswith("$") or name == "attributes" else f"{place}.{name}"
            yield from differing(inner, found[name], step)
    else:
        yield Difference(place=place, expected=_shown(expected), found=_shown(found))


def _is_alike(one: dict[str, Any], other: dict[str, Any]) -> bool:
    """Whether the parts can be compared one by one: the same keys in the same order, of the same kind."""
    kinds = ("$object", "$opaque", "$value")
    return list(one) == list(other) and all(one.get(kind) == other.get(kind) for kind in kinds)


def _tables(what: str, expected: Mapping[str, Any], found: Mapping[str, Any]) -> list[Difference]:
    differences: list[Difference] = []
    for place in sorted({*expected, *found}):
        if place in expected and place in found:
            differences += differing(expected[place], found[place], f"{what}{place}")
        elif place in expected:
            differences.append(Difference(place=f"{what}{place}", expected=_shown(expected[place]), found=""))
        else:
            differences.append(Difference(place=f"{what}{place}", expected="", found=_shown(found[place])))
    return differences


def _logs(recording: Recording, found: Sequence[Any], new_module: str, notes: list[str]) -> Iterator[Difference]:
    old_module = recording.target.partition(":")[0]
    expected = [msgspec.to_builtins(log) for log in recording.logs]
    found = [dict(log) for log in found]
    for one, other in zip(expected, found, strict=False):
        if (one["logger"], other["logger"]) == (old_module, new_module) and old_module != new_module:
            note = f"log records come from {new_module} instead of {old_module}"
            notes.extend([note] if note not in notes else [])
            other["logger"] = old_module
    for at in range(max(len(expected), len(found))):
        place = f"log {at + 1}"
        if at < len(expected) and at < len(found):
            yield from differing(expected[at], found[at], place)
        elif at < len(expected):
            yield Difference(place=place, expected=_shown(expected[at]), found="")
        else:
            yield Difference(place=place, expected="", found=_shown(found[at]))


def _shown(data: Any) -> str:
    text = json.dumps(data, ensure_ascii=False)
    return text if len(text) <= _MAX_SHOWN else f"{text[:_MAX_SHOWN]}…"
