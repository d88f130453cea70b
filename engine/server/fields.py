"""Bodies of requests to structs. Every error names the field by its place, as the client wrote it."""

from __future__ import annotations

import re
from typing import Any, TypeVar

import msgspec

from engine.server.errors import ApiError, refused

_AT = re.compile(r" - at (?P<key>`key` in )?`\$(?P<path>.*)`$", re.DOTALL)
_NAMED = re.compile(r"^Object (?P<what>missing required|contains unknown) field `(?P<name>.*)`$", re.DOTALL)
_UNION = re.compile(r"^Expected `(?P<wanted>.*)`, got `(?P<found>.*)`$", re.DOTALL)

T = TypeVar("T")


def decode(raw: bytes, kind: type[T]) -> T:
    """Raises ApiError with status 400."""
    try:
        return msgspec.json.decode(raw, type=kind)
    except msgspec.ValidationError as error:
        raise named(str(error)) from error
    except (msgspec.DecodeError, UnicodeDecodeError) as error:
        raise ApiError(400, f"the body is no JSON: {error}", code="invalid_json") from error
    except RecursionError as error:
        raise ApiError(400, "the body is nested too deep", code="invalid_json") from error


def convert(value: Any, kind: type[T], *, place: str) -> T:
    """A part of a body that was decoded as plain data."""
    try:
        return msgspec.convert(value, type=kind)
    except msgspec.ValidationError as error:
        raise named(str(error), place=place) from error


def named(message: str, *, place: str = "") -> ApiError:
    """msgspec's words for what is wrong, with the place as the param."""
    found = _AT.search(message)
    path = place + (found["path"] if found else "")
    what = message[: found.start()] if found else message
    field = _NAMED.match(what)
    if field is not None:
        param = f"{path}.{field['name']}".lstrip(".")
        if field["what"] == "contains unknown":
            return refused(param, "is no field of this request", code="unknown_parameter")
        return refused(param, "is required", code="missing_required_parameter")
    types = _UNION.match(what)
    if types is not None:
        what = f"expected {types['wanted'].replace(' | ', ' or ')}, found {types['found']}"
    param = path.lstrip(".")
    if not param:
        return ApiError(400, f"the body: {what}", code="invalid_type")
    return refused(param, what, code="invalid_type" if types else "invalid_value")
