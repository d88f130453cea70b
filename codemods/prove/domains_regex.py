"""Texts that match a regular expression, by walking the parsed pattern. Look-around and back references are
approximate: every text is tried with the pattern itself before it is given out as matching."""

from __future__ import annotations

import re
from random import Random
from typing import Any

try:
    from re import _parser as _sre  # type: ignore[attr-defined]
except ImportError:  # Python 3.10
    import sre_parse as _sre

_CLASSES = {
    "CATEGORY_DIGIT": "0123456789",
    "CATEGORY_SPACE": " \t\n",
    "CATEGORY_WORD": "abcXYZ019_",
    "CATEGORY_NOT_DIGIT": "ab -_/",
    "CATEGORY_NOT_SPACE": "ab0-_/",
    "CATEGORY_NOT_WORD": " -./:",
}
_ANY = "ab01 -_./:,é"
_TRIES = 40


def samples(pattern: str, count: int, seed: int = 0) -> list[str]:
    """Up to `count` different texts that match the whole pattern, short ones first."""
    try:
        parsed, compiled = _sre.parse(pattern), re.compile(pattern)
    except (re.error, RecursionError, OverflowError):
        return []
    rng = Random(seed)
    found: dict[str, None] = {}
    for attempt in range(_TRIES * max(1, count)):
        text = _Writer(rng, attempt).write(parsed)
        if len(text) <= 2000 and compiled.fullmatch(text) is not None:
            found[text] = None
        if len(found) >= count:
            break
    return sorted(found, key=lambda text: (len(text), text))


class _Writer:
    """Writes one text. The first tries repeat as little as the pattern allows."""

    def __init__(self, rng: Random, attempt: int) -> None:
        self.rng, self.most = rng, min(attempt, 4)
        self.groups: dict[int, str] = {}

    def write(self, parsed: Any) -> str:
        return "".join(self._one(str(op), value) for op, value in parsed)

    def _one(self, op: str, value: Any) -> str:
        if op == "LITERAL":
            return chr(value)
        if op == "NOT_LITERAL":
            return self._pick([each for each in _ANY if each != chr(value)])
        if op == "ANY":
            return self._pick(list(_ANY))
        if op == "IN":
            return self._pick(_members(value))
        if op == "BRANCH":
            return self.write(self.rng.choice(value[1]))
        if op in {"MAX_REPEAT", "MIN_REPEAT", "POSSESSIVE_REPEAT"}:
            low, high, inner = value
            times = self.rng.randint(low, max(low, min(int(high), low + self.most)))
            return "".join(self.write(inner) for _ in range(min(times, 200)))
        if op == "SUBPATTERN":
            text = self.write(value[-1])
            if value[0] is not None:
                self.groups[value[0]] = text
            return text
        if op == "ATOMIC_GROUP":
            return self.write(value)
        if op == "GROUPREF":
            return self.groups.get(value, "")
        return ""

    def _pick(self, letters: list[str]) -> str:
        return self.rng.choice(letters) if letters else ""


def _members(value: list[tuple[Any, Any]]) -> list[str]:
    letters: list[str] = []
    is_negated = False
    for op, each in value:
        name = str(op)
        if name == "NEGATE":
            is_negated = True
        elif name == "LITERAL":
            letters.append(chr(each))
        elif name == "RANGE":
            low, high = each
            letters.extend(chr(code) for code in {low, high, (low + high) // 2, min(low + 1, high)})
        elif name == "CATEGORY":
            letters.extend(_CLASSES.get(str(each), ""))
    if not is_negated:
        return sorted(set(letters))
    return [each for each in _ANY + "xyz789" if each not in letters]
