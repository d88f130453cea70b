"""What `match` statements ask of a value, once they are conditions (matching.py)."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from codemods.prove.builtin_calls import HANDLERS
from codemods.prove.errors import raise_unsupported
from codemods.prove.opaque import Opaque, current


def is_a(value: Any, kind: Any) -> bool:
    """A class pattern."""
    if type(kind) is not Opaque and not isinstance(kind, type):
        raise TypeError("called match pattern must be a class")
    return bool(HANDLERS[isinstance](value, kind))


def part(value: Any, kind: Any, index: int) -> Any:
    """What the positional pattern number `index` of a class stands for."""
    if type(kind) is Opaque:
        raise_unsupported("a positional pattern of a class that is not in the trees")
    if kind in _WHOLE:
        return value
    name = kind.__match_args__[index]
    return current.run.read(value, name) if type(value) is Opaque else getattr(value, name)


_WHOLE = (bool, bytearray, bytes, dict, float, frozenset, int, list, set, str, tuple)


def is_sequence(value: Any, size: int, is_exact: bool) -> bool:
    """A sequence pattern."""
    if type(value) is Opaque:
        raise_unsupported("a sequence pattern on an opaque value")
    if not isinstance(value, Sequence) or isinstance(value, str | bytes | bytearray):
        return False
    return len(value) == size if is_exact else len(value) >= size


def rest(value: Any, start: int, after: int) -> list[Any]:
    return list(value[start : len(value) - after])


def is_mapping(value: Any, keys: tuple[Any, ...]) -> bool:
    """A mapping pattern."""
    if type(value) is Opaque or any(type(each) is Opaque for each in keys):
        raise_unsupported("a mapping pattern on an opaque value")
    return isinstance(value, Mapping) and all(key in value for key in keys)


def other_keys(value: Any, keys: tuple[Any, ...]) -> dict[Any, Any]:
    return {key: each for key, each in value.items() if key not in keys}


PATTERNS = {
    "_u_is_a": is_a,
    "_u_part": part,
    "_u_is_sequence": is_sequence,
    "_u_rest": rest,
    "_u_is_mapping": is_mapping,
    "_u_other_keys": other_keys,
}
