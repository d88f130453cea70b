"""Commands whose options are converted by hand: texts, paths, lists of texts and choices; and their usage line.

typer has pydantic convert every value, also one that was not given, and loading pydantic takes as long as searching a
tree. Whatever is not plain, or wrong, still goes to typer, which also has the words for it."""

from __future__ import annotations

import re
from collections.abc import Callable
from enum import Enum
from pathlib import Path
from typing import Any

from typer.core import TyperCommand, TyperGroup

_LEFT = object()  # for typer
_BRACES = re.compile(r"^\{(.*)\}(?=(?:\.\.\.)?$)")


class PlainCommand(TyperCommand):
    """A command with plain options."""

    def get_params(self, ctx: Any) -> list[Any]:
        return [_made_plain(each) for each in super().get_params(ctx)]

    def collect_usage_pieces(self, ctx: Any) -> list[str]:
        """The usage line, the same with every version: newer ones put what is required into braces."""
        return [_BRACES.sub(r"\1", each) for each in super().collect_usage_pieces(ctx)]


class PlainGroup(TyperGroup):
    """A group of commands with plain options."""

    def get_params(self, ctx: Any) -> list[Any]:
        return [_made_plain(each) for each in super().get_params(ctx)]


class _Converter:
    """In place of typer's converter of one option. make: gives that one."""

    def __init__(self, make: Callable[[], Any]) -> None:
        self._make = make

    def coerce(self, value: Any, param: Any, ctx: Any) -> Any:
        is_many = param.multiple or param.nargs == -1
        if value is None:
            return () if is_many else None
        found = _converted(value, param.type_descriptor.annotation)
        return self._make().coerce(value, param=param, ctx=ctx) if found is _LEFT else found


def _made_plain(param: Any) -> Any:
    # Older versions convert without pydantic, and have no such method.
    if hasattr(param, "get_runtime_param") and not isinstance(vars(param).get("plain"), _Converter):
        param.plain = _Converter(param.get_runtime_param)
        param.get_runtime_param = lambda: param.plain
    return param


def _converted(value: Any, annotation: Any) -> Any:
    if annotation == list[str] and isinstance(value, (list, tuple)) and all(type(each) is str for each in value):
        return list(value)
    if isinstance(annotation, type) and isinstance(value, annotation) and not issubclass(annotation, bool):
        return value
    if isinstance(value, str):
        if annotation is Path:
            return Path(value)
        if isinstance(annotation, type) and issubclass(annotation, Enum):
            return next((each for each in annotation if each.value == value.lower()), _LEFT)
    return _LEFT
