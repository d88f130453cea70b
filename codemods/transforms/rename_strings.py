"""Strings that name what is renamed: rewritten where they surely do, reported where they stay.

`__all__`, `__slots__` and the like always follow, because Python itself reads them."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Literal

from msgspec import Struct

from codemods.schema.hazards import Hazard, Severity
from codemods.schema.result import Finding
from codemods.source.splice import Edit
from codemods.source.strings import StringMention
from codemods.transforms.rename_report import Edits, hazard, shortened

_ALWAYS = frozenset({"dunder-all", "slots"})


class Rewritten(Struct, frozen=True):
    """What was found about the strings; their edits are in the caller's collection."""

    hazards: tuple[Hazard, ...]
    findings: tuple[Finding, ...]


def rename_in_strings(
    edits: Edits,
    mentions: Iterable[StringMention],
    old: str,
    new: str,
    *,
    mode: Literal["rewrite", "keep"],
    follows: Callable[[StringMention], bool] = lambda _: True,
) -> Rewritten:
    """Replace the name in every mention that follows; report the rest. follows: False where the old name goes on being
    right (a module that keeps it as an alias)."""
    hazards: list[Hazard] = []
    findings: list[Finding] = []
    for each in mentions:
        if not follows(each):
            continue
        must = each.kind in _ALWAYS
        if each.is_sure and each.name_span is not None and (mode == "rewrite" or must):
            if each.name == old:
                edits.add_to(each.path, [Edit(*each.name_span, new.encode())])
                text = f"{each.kind}: {each.text} names it and follows"
                findings.append(Finding(topic="strings", text=text, path=each.path, line=each.line))
        elif not edits.touches(each.path, each.start, each.end):  # a quoted type follows as code
            hazards.append(left_behind(each, f"{old}, which is now {new}", mode=mode))
    return Rewritten(tuple(shortened(hazards)), tuple(findings))


def left_behind(each: StringMention, what: str, *, mode: Literal["rewrite", "keep"]) -> Hazard:
    """The hazard that a string which stays as it is makes."""
    code = "U110" if each.kind in ("pickle", "logger") else "U111"
    if each.kind == "document" or (each.kind == "pickle") or (each.kind == "other" and each.is_prose):
        severity = Severity.NOTE
    else:
        severity = Severity.STOP
    certainty = "names" if each.is_sure else "may name"
    settle = 'set strings = "rewrite"' if mode == "keep" and each.is_sure else f"check this place, then accept {code}"
    return hazard(code, severity, each.path, each.line, f"{each.text} {certainty} {what}", settle)
