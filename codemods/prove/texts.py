"""Texts with opaque values in them, put together by `%`, `str.format` and `str.join`: pieces that keep their values."""

from __future__ import annotations

import re
import string
from typing import Any

from codemods.prove.freeze import joined, text_parts
from codemods.prove.opaque import OP, Opaque, current, term

_PERCENT = re.compile(
    r"%(?:\((?P<name>[^)]*)\))?(?P<spec>[-#0 +]*(?:\*|\d+)?(?:\.(?:\*|\d+))?)[hlL]?(?P<kind>[diouxXeEfFgGcrsa%])"
)


def percent(template: Any, values: Any) -> Any:
    """`template % values`."""
    if type(template) is Opaque:
        return current.run.operate("mod", template, values)
    if not has_opaque(values):
        return template % values
    if type(values) is Opaque or not isinstance(values, tuple | dict):
        values = (values,)
    pieces: list[Any] = []
    at = used = 0
    for found in _PERCENT.finditer(template):
        pieces.extend(text_parts(template[at : found.start()]))
        at = found.end()
        if found["kind"] == "%":
            pieces.append("%")
            continue
        if isinstance(values, dict):
            value = values[found["name"]]
        elif used < len(values):
            value, used = values[used], used + 1
        else:
            raise TypeError("not enough arguments for format string")
        pieces.extend(piece(value, found["spec"], found["kind"]))
    pieces.extend(text_parts(template[at:]))
    if isinstance(values, tuple) and used < len(values):
        raise TypeError("not all arguments converted during string formatting")
    return joined(pieces)


def piece(value: Any, spec: str, kind: str) -> list[Any]:
    """One value of a template, converted."""
    if not has_opaque(value):
        return text_parts(("%" + spec + kind) % (value,))
    if kind in "eEfFgG" and not set(spec) & set("-*"):
        return [(current.run.freezer.freeze(value), f"{spec}{kind}")]  # the same as `format` makes of a number
    if kind in ("s", "d") and not spec:
        return [(current.run.freezer.freeze(value), "" if kind == "s" else "d")]
    return [(current.run.freezer.freeze(value), "!r" if kind == "r" and not spec else f"%{spec}{kind}")]


def converted(conversion: str | None, spec: str) -> str:
    """How a value becomes text; `!s` alone is what happens anyway."""
    return f"!{conversion}{spec}" if conversion and (conversion != "s" or spec) else spec


def has_opaque(value: Any) -> bool:
    """Whether a value is, or directly holds, one that its text can't be made of yet."""
    from codemods.prove.errors import Fault, OpaqueError

    if type(value) is Opaque or isinstance(value, Fault | OpaqueError):
        return True
    if isinstance(value, tuple | list | set):
        return any(has_opaque(each) for each in value)
    return isinstance(value, dict) and any(has_opaque(each) for each in value.values())


def format_text(template: str, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
    """`template.format(...)`."""
    pieces: list[Any] = []
    formatter = string.Formatter()
    count = 0
    for literal, name, spec, conversion in formatter.parse(template):
        pieces.extend(text_parts(literal))
        if name is None:
            continue
        if name == "" or name[0] in ".[":
            name, count = f"{count}{name}", count + 1
        value, _ = formatter.get_field(name, args, kwargs)
        if has_opaque(value):
            pieces.append((current.run.freezer.freeze(value), converted(conversion, spec or "")))
        else:
            pieces.extend(text_parts(format(formatter.convert_field(value, conversion), spec or "")))
    return joined(pieces)


def join_text(separator: str, values: Any) -> Any:
    """`separator.join(values)`."""
    if type(values) is Opaque:
        return term(OP, "join", separator, values)
    pieces: list[Any] = []
    for index, value in enumerate(values):
        if index:
            pieces.extend(text_parts(separator))
        pieces.extend(text_parts(value) if type(value) is str else [(value, "")])
    return joined(pieces)


def as_text(value: Any) -> Any:
    """`str(value)`."""
    return joined([(current.run.freezer.freeze(value), "")]) if has_opaque(value) else str(value)
