"""When two calls are one behaviour: the shape of what went in and of what came out. Kept are constants that code asks
for (None, truth, small numbers, words, keys, classes); numbers, lengths and free text are kinds.

`quick` works on the values of a call, many times a second, and may part what `shape` joins. `behaviour` works on what
is kept, so that a file's behaviour can be known from the file. Standard library alone: it runs in the recorded
program."""

from __future__ import annotations

import hashlib
import json
import math
import re
from collections.abc import Mapping
from typing import Any

from .record_values import Reads, state_of  # noqa: TID252 -- see record_values.py

_TOKEN = re.compile(r"[A-Za-z]+[A-Za-z0-9]*|[0-9]+|[^A-Za-z0-9]")
_PRECISE = re.compile(r"[A-Za-z]{2,}[0-9]{1,2}\Z")  # fp16, rank0
_MAX_WORDS = 8
_DEPTH = 3
_texts: dict[str, str] = {}


def text_shape(text: str) -> str:
    """Words stay, numbers and identifiers become their kind, a long text its beginning."""
    found = _texts.get(text)
    if found is None:
        tokens = _TOKEN.findall(text[:200])
        found = "".join(map(_token, tokens[: 2 * _MAX_WORDS])) + ("…" if len(tokens) > 2 * _MAX_WORDS else "")
        if len(_texts) < 4096:
            _texts[text] = found
    return found


def _token(token: str) -> str:
    if token.isdecimal():
        return "9"
    if token.isalpha() or not token[0].isalnum():
        return token
    return token if _PRECISE.match(token) else "id"


def number_shape(value: float) -> str:
    if type(value) is int:
        return str(value) if -2 < value < 3 else "int+" if value > 0 else "int-"
    if not math.isfinite(value):
        return repr(value)
    return "float0" if value == 0 else "float+" if value > 0 else "float-"


def quick(value: Any, reads: Reads, depth: int = _DEPTH) -> Any:
    """Something hashable, cheap, that differs where the behaviour may."""
    kind = type(value)
    if value is None or kind is bool:
        return value
    if kind is str:
        return value if len(value) < 12 and value.isalpha() else text_shape(value)
    if kind is int:
        return value if -2 < value < 3 else "int+" if value > 0 else "int-"
    if kind is float:
        return number_shape(value)
    if kind is list or kind is tuple:
        if not value or not depth:
            return (kind, min(len(value), 2))
        return (kind, min(len(value), 2), quick(value[0], reads, depth - 1), quick(value[-1], reads, depth - 1))
    if kind is dict:
        if len(value) > 8 or not depth:
            return (kind, min(len(value), 9))
        return (kind, *((k if type(k) is str else type(k), quick(v, reads, depth - 1)) for k, v in value.items()))
    if reads.attributes and depth:
        state = state_of(value)
        found = [quick(state[name], inner, depth - 1) for name, inner in reads.attributes.items() if name in state]
        return (kind, len(state), *found)
    return kind


def behaviour(recording: Mapping[str, Any]) -> str:
    """A digest of what two recordings of one behaviour have in common."""
    raised = recording.get("raised")
    outcome = [shape(recording.get("returned")) if not raised else [raised["type"], text_shape(raised["text"])]]
    parts = [
        recording["target"],
        {name: shape(value) for name, value in recording["arguments"].items()},
        sorted(recording.get("absent", ())),
        {
            name: None if value is None else text_shape(value)
            for name, value in recording.get("environment", {}).items()
        },
        outcome,
        {_plain(place): shape(value) for place, value in recording.get("writes", {}).items()},
        sorted(recording.get("env_writes", {})),
        [[log["level"], log["logger"], text_shape(log["text"])] for log in recording.get("logs", ())],
    ]
    return digest(parts)


def digest(parts: Any) -> str:
    text = json.dumps(parts, sort_keys=True, ensure_ascii=True)
    return hashlib.sha256(text.encode("ascii")).hexdigest()[:12]


def inputs(recording: Mapping[str, Any]) -> str:
    """A digest of everything that goes in: with the same inputs the same must come out."""
    return digest([recording.get(key) for key in ("target", "arguments", "absent", "environment")])


def shape(data: Any) -> Any:
    """Of a value as data."""
    if data is None or isinstance(data, bool):
        return data
    if isinstance(data, str):
        return text_shape(data)
    if isinstance(data, (int, float)):
        return number_shape(data)
    if isinstance(data, list):
        return _many("list", data)
    tag = next((name for name in data if name.startswith("$")), "")
    if tag:
        return _tagged(tag, data)
    if len(data) > _MAX_WORDS:
        return ["dict", "many"]
    return ["dict", {name: shape(value) for name, value in data.items()}]


def _tagged(tag: str, data: dict[str, Any]) -> Any:
    given = data[tag]
    if tag in ("$tuple", "$set", "$frozenset", "$items"):
        return _many(tag, given)
    if tag == "$object":
        return [given, {name: shape(value) for name, value in data["attributes"].items()}]
    if tag == "$bytes":
        return [tag, min(len(given) - 3, 1)]
    if tag == "$cut":
        return [tag, type(given).__name__]
    if tag == "$int":
        return "int-" if given.startswith("-") else "int+"
    if tag == "$value":
        return [tag, given, len(data["args"])]
    return [tag, given]  # the label of what is opaque says where, not what


def _many(kind: str, items: list[Any]) -> Any:
    kinds = sorted({json.dumps(shape(item), sort_keys=True) for item in items})
    return [kind, min(len(items), 2), kinds[:_MAX_WORDS]]


def _plain(place: str) -> str:
    return re.sub(r"[0-9]+", "9", place)
