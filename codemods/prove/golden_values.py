"""Plain values that recordings hold, by the place where they stood, for whoever needs real ones to try a function with.

Only data: what a recording names (classes, functions, enums), cuts, redacts or replaces is left out, and nothing is
imported."""

from __future__ import annotations

import ast
from collections.abc import Iterable
from typing import Any

from codemods.schema.recording import Recording

_MISSING = object()


def concrete_values(recordings: Iterable[Recording]) -> dict[str, list[object]]:
    """place -> the different values seen there, in order. A place is a parameter (`size`), an attribute below one
    (`self.config.backend`) or a variable (`$NAME`; None where it was not set)."""
    found: dict[str, list[object]] = {}
    for recording in recordings:
        for name, data in recording.arguments.items():
            _gather(data, name.lstrip("*"), found)
        for name, value in recording.environment.items():
            if value is None or "<redacted:" not in value:
                _add(found, f"${name}", value)
    return found


def _gather(data: Any, place: str, found: dict[str, list[object]]) -> None:
    if isinstance(data, dict) and "$object" in data:
        for name, inner in data["attributes"].items():
            _gather(inner, f"{place}.{name}", found)
        return
    value = plain_value(data)
    if value is not _MISSING:
        _add(found, place, value)


def _add(found: dict[str, list[object]], place: str, value: object) -> None:
    values = found.setdefault(place, [])
    # 1, 1.0 and True are three values here.
    if all(repr(value) != repr(each) for each in values):
        values.append(value)


def plain_value(data: Any) -> Any:
    """The Python value of data that is nothing but plain data, else a mark that `is_plain` knows."""
    if isinstance(data, str):
        return _MISSING if "<redacted:" in data else data
    if isinstance(data, list):
        return _all(data, list)
    if not isinstance(data, dict):
        return data
    tag = next((name for name in data if name.startswith("$")), "")
    if not tag:
        values = _all(data.values(), list)
        return values if values is _MISSING else dict(zip(data, values, strict=True))
    given = data[tag]
    if tag in ("$tuple", "$set", "$frozenset"):
        return _all(given, {"$tuple": tuple, "$set": set, "$frozenset": frozenset}[tag])
    if tag == "$items":
        pairs = _all([item for pair in given for item in pair], list)
        return pairs if pairs is _MISSING else dict(zip(pairs[::2], pairs[1::2], strict=True))
    if tag == "$bytes":
        return _MISSING if "<redacted:" in given else ast.literal_eval(given)
    if tag in ("$int", "$float"):
        return int(given) if tag == "$int" else float(given)
    return _MISSING


def is_plain(value: object) -> bool:
    """Whether `plain_value` had one."""
    return value is not _MISSING


def _all(data: Iterable[Any], kind: Any) -> Any:
    values = [plain_value(item) for item in data]
    return _MISSING if any(value is _MISSING for value in values) else kind(values)
