"""Whether the texts inside a step have the form they must have: references, module names, identifiers, hazard codes.

A typo is caught here, on the plan's own line, and not as "not found" much later. Looks at no tree."""

from __future__ import annotations

import ast
import keyword
import re
from collections.abc import Iterable, Iterator

from msgspec import Struct

from codemods.schema.pages import CODES
from codemods.schema.plan import ExtractFunction, Rename, SplitMethod, Step
from codemods.schema.refs import BadReference, DefRef
from codemods.schema.toml_check import did_you_mean, shown
from codemods.schema.toml_text import KeyPath

_DOTTED = re.compile(r"[^\W\d]\w*(\.[^\W\d]\w*)*\Z")


class Complaint(Struct, frozen=True, kw_only=True):
    """`at` is the path of keys inside the step."""

    at: KeyPath
    code: str = "bad-value"
    message: str
    fix: str


def complaints(step: Step) -> Iterator[Complaint]:
    """Everything that is wrong with the texts of a step, in the order of its keys."""
    yield from accepted_codes(step.accept)
    yield from _target(step)
    for key in step.__struct_fields__:
        yield from _CHECKS.get(key, _nothing)(step, key)
    if isinstance(step, ExtractFunction):
        yield from _block(step)
    if isinstance(step, SplitMethod):
        yield from _pieces(step)


def accepted_codes(accept: dict[str, str]) -> Iterator[Complaint]:
    """What is wrong with an `accept` table: each key a hazard, each value a reason."""
    for code, reason in accept.items():
        if code not in CODES:
            yield Complaint(
                at=("accept", code),
                code="unknown-hazard",
                message=f"`accept` names {shown(code)}, which is no hazard",
                fix=f"{did_you_mean(code, CODES)}; `unmoved explain` lists them",
            )
        elif not reason.strip():
            yield Complaint(
                at=("accept", code),
                message=f"`accept` of {code} has no reason",
                fix="write why it can't change behaviour here",
            )


def _nothing(step: Step, key: str) -> Iterable[Complaint]:
    del step, key
    return ()


def _target(step: Step) -> Iterator[Complaint]:
    if isinstance(step, Rename) and ":" not in step.definition:
        if not is_module(step.definition):
            yield Complaint(
                at=("definition",),
                code="bad-reference",
                message=f"{shown(step.definition)} names neither a definition nor a module",
                fix="write package.module:name, or package.module to rename the module",
            )
        return
    try:
        DefRef.parse(step.target)
    except BadReference as bad:
        yield Complaint(at=(step.target_key,), code=bad.code, message=bad.message, fix=bad.fix)


def is_module(text: str) -> bool:
    """A dotted name or the path of a .py file."""
    return text.endswith(".py") or (bool(_DOTTED.match(text)) and not _has_keyword(text))


def _has_keyword(dotted: str) -> bool:
    return any(keyword.iskeyword(part) for part in dotted.split("."))


def _destination(step: Step, key: str) -> Iterator[Complaint]:
    value = str(getattr(step, key))
    if step.do in ("rename", "redirect-attribute"):
        renames_module = step.do == "rename" and ":" not in step.target
        if not (renames_module and is_module(value)) and (value or step.do == "rename"):
            yield from _one_name(value, (key,), f"`{key}` of {step.do}")
    elif value and not is_module(value):
        name_only = "only the module's name, without what follows the colon" if ":" in value else "package.module"
        yield Complaint(
            at=(key,), message=f"`{key}` is {shown(value)}, which is no module name", fix=f"write {name_only}"
        )


def _one_name(value: str, at: KeyPath, what: str, *, dotted: bool = False) -> Iterator[Complaint]:
    fits = bool(_DOTTED.match(value)) if dotted else value.isidentifier()
    if not fits or _has_keyword(value):
        yield Complaint(
            at=at,
            message=f"{what} is {shown(value)}, which is no Python name",
            fix="write a name" + (", or names joined by dots" if dotted else ""),
        )
    elif value.startswith("self."):
        yield Complaint(at=at, message=f"{what} is {shown(value)}", fix=f'leave "self." out: "{value[5:]}"')


def _name(step: Step, key: str) -> Iterator[Complaint]:
    value = str(getattr(step, key))
    if value or key in _REQUIRED_NAMES.get(step.do, ()):
        yield from _one_name(value, (key,), f"`{key}`", dotted=key == "via")


def _names(step: Step, key: str) -> Iterator[Complaint]:
    values = getattr(step, key)
    for index, value in enumerate(values if isinstance(values, tuple) else ()):
        yield from _one_name(value, (key, index), f"element {index + 1} of `{key}`", dotted=key in _DOTTED_LISTS)
        if value in values[:index]:
            yield Complaint(at=(key, index), message=f"`{key}` has {shown(value)} twice", fix="keep one")


def _parameters(step: Step, key: str) -> Iterator[Complaint]:
    for attribute, parameter in getattr(step, key).items():
        yield from _one_name(attribute, (key, attribute), f"a key of `{key}`", dotted=True)
        yield from _one_name(parameter, (key, attribute), f"`{key}.{attribute}`")


def _types(step: Step, key: str) -> Iterator[Complaint]:
    for field, annotation in getattr(step, key).items():
        yield from _one_name(field, (key, field), f"a key of `{key}`")
        yield from _parses(annotation, (key, field), f"`{key}.{field}`", mode="eval")


def _expression(step: Step, key: str) -> Iterator[Complaint]:
    value = str(getattr(step, key))
    if value:
        yield from _parses(value, (key,), f"`{key}`", mode="eval")


def _parses(text: str, at: KeyPath, what: str, *, mode: str) -> Iterator[Complaint]:
    try:
        ast.parse(f"({text}\n)", mode=mode)
    except (SyntaxError, ValueError):
        yield Complaint(at=at, message=f"{what} is {shown(text)}, which is no Python expression", fix="mend it")


def _block(step: ExtractFunction) -> Iterator[Complaint]:
    if step.expression and (step.first or step.last):
        yield Complaint(
            at=("expression",),
            message="`expression` and `first`/`last` both say what to extract",
            fix="keep `expression` for one expression, `first` and `last` for statements",
        )
    elif not step.expression and not step.first:
        yield Complaint(
            at=(),
            code="missing-key",
            message="extract-function needs `first` or `expression`",
            fix="add `first`, the source text of the first line of the block",
        )


def _pieces(step: SplitMethod) -> Iterator[Complaint]:
    if not step.pieces:
        yield Complaint(at=("pieces",), message="`pieces` is empty", fix="add a [[step.pieces]] for each new method")
    seen: set[str] = set()
    for index, piece in enumerate(step.pieces):
        at: KeyPath = ("pieces", index)
        yield from _one_name(piece.name, (*at, "name"), f"`name` of piece {index + 1}")
        if piece.name in seen:
            yield Complaint(at=(*at, "name"), message=f"two pieces are named {shown(piece.name)}", fix="rename one")
        seen.add(piece.name)
        if not piece.first.strip():
            yield Complaint(
                at=(*at, "first"),
                message=f"`first` of piece {index + 1} is empty",
                fix="write the source text of its first line",
            )


_DOTTED_LISTS = {"leaves", "lazy", "optional"}
_REQUIRED_NAMES = {"extract-function": ("name",), "result-struct": ("name",), "redirect-attribute": ("via",)}
_CHECKS = {
    "to": _destination,
    "name": _name,
    "owner": _name,
    "via": _name,
    "returns": _names,
    "leaves": _names,
    "lazy": _names,
    "optional": _names,
    "carry": _names,
    "fields": _names,
    "parameters": _parameters,
    "types": _types,
    "expression": _expression,
}
