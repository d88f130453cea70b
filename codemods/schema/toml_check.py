"""Values out of a TOML text against a Struct: every unknown key, missing key and wrong value, with its line and the
nearest known spelling, all at once. What the values mean together is checked by their owners."""

from __future__ import annotations

import re
import types
from collections.abc import Callable, Iterable, Iterator, Mapping
from difflib import get_close_matches
from typing import Annotated, Any, Literal, Union, get_args, get_origin

import msgspec
from msgspec import Struct

from codemods.schema.errors import UnmovedError
from codemods.schema.toml_text import KeyPath

_KIND_NAMES = {
    bool: ("true or false", "true or false"),
    int: ("a whole number", "whole numbers"),
    float: ("a number", "numbers"),
    str: ("a text", "texts"),
}
_WHERE = re.compile(r" - at `\$(?P<path>.*)`\Z")
_INDEX = re.compile(r"\[(\d+)\]")


class Problem(Struct, frozen=True, kw_only=True):
    """One thing wrong with a TOML text: `code` is stable, `fix` the next move."""

    code: str
    line: int
    message: str
    fix: str


class TomlProblems(UnmovedError):
    """Everything wrong with one TOML file. With one problem it reads as that problem; `problems` has the parts."""

    def __init__(self, path: str, problems: Iterable[Problem]) -> None:
        found = sorted(problems, key=lambda problem: problem.line)
        if len(found) == 1:
            super().__init__(found[0].message, fix=found[0].fix, path=path, line=found[0].line)
            self.code = found[0].code
        else:
            listed = "".join(f"\n  line {one.line}: {one.code}: {one.message}; {one.fix}" for one in found)
            super().__init__(f"{len(found)} things are wrong{listed}", fix="mend each, then run again", path=path)
        self.problems = tuple(found)


def nearest(word: str, known: Iterable[str]) -> str:
    """The known word most like `word`, or ""."""
    found = get_close_matches(word, list(known), n=1, cutoff=0.6)
    return found[0] if found else ""


def did_you_mean(word: str, known: Iterable[str]) -> str:
    """The next move for a word that is not known: the nearest one, else all of them."""
    words = list(known)
    close = nearest(word, words)
    return f"did you mean `{close}`?" if close else f"write one of: {', '.join(words)}"


def shown(value: object) -> str:
    """A value as a message shows it: short, on one line."""
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, str):
        text = f'"{value}"'
    elif isinstance(value, Mapping):
        return "a table"
    elif isinstance(value, list):
        return "a list" if value else "an empty list"
    else:
        text = str(value)
    text = text.replace("\n", "\\n")
    return text if len(text) <= 60 else f"{text[:56]}…{text[-1]}"


def expected(kind: Any, *, many: bool = False) -> str:
    """A type in words: `tuple[str, ...]` is "a list of texts"."""
    origin, args = get_origin(kind), get_args(kind)
    if kind in _KIND_NAMES:
        return _KIND_NAMES[kind][many]
    if origin is Annotated:
        low, high = args[1].ge, args[1].le
        return f"{expected(args[0], many=many)}{f' from {low} to {high}' if high is not None else ''}"
    if origin is Literal:
        return "one of " + ", ".join(f'"{word}"' for word in args)
    if origin is tuple:
        return f"{'lists' if many else 'a list'} of {expected(args[0], many=True)}"
    if origin is dict:
        return f"{'tables' if many else 'a table'} of {expected(args[1], many=True)}"
    if origin in (Union, types.UnionType):
        # Eight kinds of step are one table to whoever writes it.
        return " or ".join(dict.fromkeys(expected(arg, many=many) for arg in args if arg is not type(None)))
    return "tables" if many else "a table"


def check_table(
    raw: Mapping[str, object],
    struct: type[Struct],
    *,
    name: str,
    at: KeyPath,
    line_of: Callable[[KeyPath], int],
    also: Iterable[str] = (),
    elsewhere: Mapping[str, str] | None = None,
) -> Iterator[Problem]:
    """What keeps `raw` from being a `struct`. `name` is what a message calls the table, `at` its place in the text.

    also: keys that are allowed besides the struct's. elsewhere: keys of other tables -> what has them."""
    fields = {field.encode_name: field for field in msgspec.structs.fields(struct)}
    known = [*also, *fields]
    for key in raw:
        if key not in known:
            owner = (elsewhere or {}).get(key, "")
            yield Problem(
                code="unknown-key",
                line=line_of((*at, key)),
                message=f"`{key}` is not a key of {name}" + (f" (it is one of {owner})" if owner else ""),
                fix=did_you_mean(key, known),
            )
    for key, field in fields.items():
        if key in raw:
            yield from _check_value(raw[key], field.type, name=name, at=(*at, key), line_of=line_of)
        elif field.required:
            yield Problem(
                code="missing-key",
                line=line_of(at),
                message=f"{name} needs `{key}`",
                fix=f"add `{key}`, {expected(field.type)}",
            )


def _check_value(
    value: object, kind: Any, *, name: str, at: KeyPath, line_of: Callable[[KeyPath], int]
) -> Iterator[Problem]:
    key = at[-1]
    args = get_args(kind)
    is_table_list = get_origin(kind) is tuple and isinstance(args[0], type) and issubclass(args[0], Struct)
    if is_table_list and isinstance(value, list) and all(isinstance(item, dict) for item in value):
        for index, item in enumerate(value):
            yield from check_table(item, args[0], name=f"`{key}` {index + 1}", at=(*at, index), line_of=line_of)
        return
    if isinstance(kind, type) and issubclass(kind, Struct) and isinstance(value, dict):
        yield from check_table(value, kind, name=f"`{key}`", at=at, line_of=line_of)
        return
    try:
        msgspec.convert(value, kind)
    except msgspec.ValidationError as error:
        where = _WHERE.search(str(error))
        inner = tuple(int(index) for index in _INDEX.findall(where["path"])) if where else ()
        at_fault = value
        for index in inner:
            at_fault = at_fault[index] if isinstance(at_fault, list) else at_fault
        element = f"element {inner[0] + 1} of `{key}`" if inner else f"`{key}`"
        words = get_args(kind) if get_origin(kind) is Literal else ()
        yield Problem(
            code="bad-value" if words and isinstance(value, str) else "wrong-type",
            line=line_of((*at, *inner)),
            message=f"{element} of {name} is {shown(at_fault)}, but must be "
            + (expected(args[0]) if inner and get_origin(kind) is tuple else expected(kind)),
            fix=did_you_mean(value, words) if words and isinstance(value, str) else "change the value",
        )
