"""Values and cases as Python text: short for people, and an exact key by which equal cases are told."""

from __future__ import annotations

import math
from collections import deque
from collections.abc import Mapping
from typing import Any

from codemods.prove.domains import Build, Hole, Member

_LONGEST = 120


def repr_case(case: Mapping[str, Any], *, short: bool = True) -> str:
    """`name=value, ...`. short=False: nothing is cut, and everything but holes can be evaluated again."""
    return ", ".join(f"{name}={repr_value(value, short=short)}" for name, value in case.items())


def repr_value(value: Any, *, short: bool = True) -> str:
    """One value as Python text; sets in a fixed order, `Ref(name=value)` for what is built."""
    if isinstance(value, str):
        return _text(value) if short else repr(value)
    if isinstance(value, float) and not math.isfinite(value):
        return f"float({str(value)!r})"
    if isinstance(value, Build):
        given = [repr_value(each, short=short) for each in value.args]
        given.extend(f"{name}={repr_value(each, short=short)}" for name, each in value.kwargs)
        return f"{value.ref.rpartition(':')[2]}({', '.join(given)})"
    if isinstance(value, Member):
        return f"{value.ref.rpartition(':')[2]}.{value.name}"
    if isinstance(value, Hole):
        return f"<{value.place}>"
    if isinstance(value, dict):
        pairs = (f"{repr_value(key, short=short)}: {repr_value(each, short=short)}" for key, each in value.items())
        return "{" + ", ".join(pairs) + "}"
    return _collection(value, short)


def _collection(value: Any, short: bool) -> str:
    kind = type(value)
    if kind not in {list, tuple, set, frozenset, deque}:
        return repr(value)
    parts = [repr_value(each, short=short) for each in value]
    if kind is list:
        return f"[{', '.join(parts)}]"
    if kind is tuple:
        return f"({parts[0]},)" if len(parts) == 1 else f"({', '.join(parts)})"
    if kind is deque:
        return f"deque([{', '.join(parts)}])"
    inner = "{" + ", ".join(sorted(parts)) + "}" if parts else ""
    if kind is set:
        return inner or "set()"
    return f"frozenset({inner})"


def _text(value: str) -> str:
    if len(value) > _LONGEST and value == value[0] * len(value):
        return f"{value[0]!r} * {len(value)}"
    shown = repr(value)
    return shown if len(shown) <= _LONGEST else f"{shown[: _LONGEST // 2]}...{shown[-20:]} ({len(value)} characters)"


def key_of(case: Mapping[str, Any]) -> str:
    """Equal for equal cases only: 1, True and 1.0 are three values, 0.0 and -0.0 are two."""
    return repr_case(case, short=False)
