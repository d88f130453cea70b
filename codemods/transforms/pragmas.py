"""Where a comment that steers a tool (`# noqa`, `# type: ignore`) belongs when the line it stands on is broken.

Only rules whose reports are known to stand at the name of a function or at one of its parameters are followed; with any
other pragma the line has to stay whole."""

from __future__ import annotations

import ast
import re
from enum import Enum

from codemods.source.parse import Function
from codemods.transforms.bracket_items import default_of

_PRAGMA = re.compile(
    rb"#\s*(?:noqa|type:|pyright:|pylint:|mypy:|fmt:|yapf:|isort:|ruff:|nosec|pragma\b|flake8)", re.IGNORECASE
)
_NOQA = re.compile(rb"#\s*noqa\s*:\s*(?P<codes>[A-Z]+[0-9]+(?:[\s,]+[A-Z]+[0-9]+)*)\s*$", re.IGNORECASE)
_AT_NAME = re.compile(rb"C901|D1[0-9]{2}|N802|PLR091[0-9]|ANN2[0-9]{2}|E74[0-9]", re.IGNORECASE)
_CALL_DEFAULT = re.compile(rb"B008|RUF009", re.IGNORECASE)
_MUTABLE_DEFAULT = re.compile(rb"B006|RUF008|W0102", re.IGNORECASE)
_DISPLAYS = (ast.List, ast.Dict, ast.Set, ast.ListComp, ast.DictComp, ast.SetComp, ast.Call)


class Place(Enum):
    """Where a pragma goes when it does not go with a parameter."""

    NAME = "the line of the name"
    UNKNOWN = "it can't be said"


def pragma_in(comment: bytes) -> bool:
    """Whether a trailing comment steers a tool."""
    return _PRAGMA.search(comment) is not None


def place_of(function: Function, comment: bytes) -> Place | tuple[ast.arg, ...]:
    """Where the trailing pragma of a one-line header belongs once each parameter has a line of its own: with some of
    them, or at the name."""
    match = _NOQA.match(comment)
    if match is None:
        return Place.UNKNOWN
    places = [_place_of_code(function, code) for code in re.split(rb"[\s,]+", match["codes"].strip())]
    return places[0] if all(place == places[0] for place in places) else Place.UNKNOWN


def _place_of_code(function: Function, code: bytes) -> Place | tuple[ast.arg, ...]:
    if _AT_NAME.fullmatch(code):
        return Place.NAME
    defaults = default_of(function.args)
    if _CALL_DEFAULT.fullmatch(code):
        found = [each for each, value in defaults.items() if any(isinstance(at, ast.Call) for at in ast.walk(value))]
    elif _MUTABLE_DEFAULT.fullmatch(code):
        found = [each for each, value in defaults.items() if isinstance(value, _DISPLAYS)]
    else:
        return Place.UNKNOWN
    return tuple(found) or Place.UNKNOWN
