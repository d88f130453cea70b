"""A step as TOML text with what the tool found as comments above it: what `unmoved plan` writes and `load_plan` reads.

The same step and findings always give the same bytes. Keys that have their default are left out."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence

import msgspec
from msgspec import Struct

from codemods.schema.hazards import Hazard, Refusal
from codemods.schema.plan import Plan, Step
from codemods.schema.result import Finding

_BARE_KEY = re.compile(r"[A-Za-z0-9_-]+\Z")
_CONTROL = re.compile(r"[\x00-\x08\x0b-\x1f\x7f\x85\u2028\u2029]")


def dump_plan(plan: Plan) -> str:
    """A whole plan without comments."""
    return heading(plan.id, plan.title) + "".join(f"\n{dump_step(step)}" for step in plan.step)


def heading(plan_id: str, title: str = "", *, comment: str = "") -> str:
    """The top of a plan file, before its first step. comment: on the id."""
    said = f"  # {comment}" if comment else ""
    return f"id = {_value(plan_id)}{said}\n" + (f"title = {_value(title)}\n" if title else "")


def dump_step(
    step: Step,
    *,
    findings: Sequence[Finding] = (),
    hazards: Sequence[Hazard] = (),
    refusals: Sequence[Refusal] = (),
) -> str:
    """One `[[step]]`. Comments come in the order of their topics' first finding, then hazards, then refusals."""
    lines = [*_comments(findings, hazards, refusals), "[[step]]", f"do = {_value(step.do)}"]
    tables: list[str] = []
    for field in msgspec.structs.fields(step):
        value = getattr(step, field.name)
        if field.name == "accept" or (not field.required and value == _default(field)):
            continue
        if isinstance(value, tuple) and value and isinstance(value[0], Struct):
            tables += _tables(f"step.{field.encode_name}", value)
        else:
            lines.append(f"{_key(field.encode_name)} = {_value(value)}")
    if step.accept:
        lines.append(f"accept = {_value(step.accept)}")
    return "".join(f"{line}\n" for line in [*lines, *tables])


def _default(field: msgspec.structs.FieldInfo) -> object:
    return field.default if field.default_factory is msgspec.NODEFAULT else field.default_factory()


def _tables(header: str, items: Iterable[Struct]) -> Iterator[str]:
    for item in items:
        yield ""
        yield f"[[{header}]]"
        for field in msgspec.structs.fields(item):
            value = getattr(item, field.name)
            if field.required or value != _default(field):
                yield f"{_key(field.encode_name)} = {_value(value)}"


def _key(text: str) -> str:
    return text if _BARE_KEY.match(text) else _value(text)


def _value(value: object) -> str:
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, str):
        # A JSON string is a TOML basic string, but for DEL, which only TOML wants escaped.
        return msgspec.json.encode(value).decode().replace("\x7f", "\\u007f")
    if isinstance(value, Mapping):
        return "{ " + ", ".join(f"{_key(str(key))} = {_value(item)}" for key, item in value.items()) + " }"
    if isinstance(value, (tuple, list)):
        return "[" + ", ".join(_value(item) for item in value) + "]"
    return str(value)


def _comments(findings: Sequence[Finding], hazards: Sequence[Hazard], refusals: Sequence[Refusal]) -> Iterator[str]:
    topics: dict[str, list[Finding]] = {}
    for finding in findings:
        topics.setdefault(finding.topic, []).append(finding)
    for topic, found in topics.items():
        yield from _comment(f"{topic}:")
        for one in found:
            place = f"  ({_place(one.path, one.line)})" if one.path else ""
            yield from _comment(f"  {one.text}{place}")
    if hazards:
        yield from _comment("hazards:")
        for hazard in hazards:
            place = _place(hazard.path, hazard.line)
            yield from _comment(f"  {hazard.code} {hazard.severity.value} {place}: {hazard.message}")
            yield from _comment(f"    settle: {hazard.settle}")
    if refusals:
        yield from _comment("refused as it stands:")
        for refusal in refusals:
            yield from _comment(f"  {refusal.code} {_place(refusal.path, refusal.line)}: {refusal.message}")
            yield from _comment(f"    next: {refusal.settle}")


def _place(path: str, line: int) -> str:
    return f"{path}:{line}" if line else path


def _comment(text: str) -> Iterator[str]:
    """Comment lines. What TOML forbids in a comment is shown escaped."""
    indent = " " * (len(text) - len(text.lstrip(" ")))
    first, *rest = text.split("\n")
    for line in [first, *(f"{indent}  {more}" for more in rest)]:
        clean = _CONTROL.sub(lambda found: f"\\x{ord(found[0]):02x}", line).rstrip()
        yield f"# {clean}" if clean else "#"
