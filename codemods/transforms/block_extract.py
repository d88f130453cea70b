"""One block becomes one function: everything that is decided about it, and the edits that make it so.

Several blocks of one function can be taken at once, each judged in the function as it was before."""

from __future__ import annotations

import ast
from collections.abc import Sequence

from msgspec import Struct

from codemods.schema.hazards import Hazard, Refusal, Severity
from codemods.schema.result import Finding
from codemods.source.binder import table
from codemods.source.kept_text import keep_printed
from codemods.source.members import MemberKind
from codemods.source.scopes import lookup
from codemods.source.splice import Edit, MixedIndent, apply_edits
from codemods.transforms.block_annotations import (
    annotation_of,
    is_annotated,
    left_behind,
    missing_name,
    result_annotation,
    text_at,
)
from codemods.transforms.block_call import call_edit
from codemods.transforms.block_check import Ending, check_part, ending_of, is_async_part, yields
from codemods.transforms.block_find import Part, own_nodes
from codemods.transforms.block_globals import global_edits
from codemods.transforms.block_host import Host, listed
from codemods.transforms.block_needs import Crossing, crossing_of, out_of_reach
from codemods.transforms.block_place import Spot, insertion, name_problems, spot_for
from codemods.transforms.block_self import SelfReads, self_reads
from codemods.transforms.block_text import Cut, Header, body_text, header_lines, lines_text
from codemods.transforms.layout import indent_unit
from codemods.transforms.static_body import unkept


class Want(Struct, frozen=True, kw_only=True):
    """What the plan asks for. bare: locals that the block gets by itself (see split_method.py), with their edits."""

    name: str
    kind: str
    annotate: bool = True
    bare: tuple[str, ...] = ()
    edits: tuple[Edit, ...] = ()


class Extraction(Struct, frozen=True, kw_only=True, eq=False):
    """A new function and its call. parameters: (name, annotation, argument), in order.

    edits: inside the part, which moves. calls: the call in its place, and what keeps a printed text around it."""

    part: Part
    spot: Spot
    header: Header
    prologue: tuple[str, ...]
    results: tuple[str, ...]
    edits: tuple[Edit, ...]
    calls: tuple[Edit, ...]
    parameters: tuple[tuple[str, str, str], ...]
    hazards: tuple[Hazard, ...] = ()


class Rejected(Struct, frozen=True, kw_only=True):
    """Why a block can't be taken."""

    refusals: tuple[Refusal, ...]
    hazards: tuple[Hazard, ...] = ()


def extraction_of(host: Host, part: Part, want: Want) -> Extraction | Rejected:
    """Decide everything about one block."""
    blocked = _kind_problem(host, want.kind)
    if blocked is not None:
        return Rejected(refusals=(blocked,))
    ending = ending_of(host, part)
    refusals, hazards = check_part(host, part, want.kind)
    for problem in name_problems(host, want.name, want.kind):
        (refusals if isinstance(problem, Refusal) else hazards).append(problem)  # type: ignore[arg-type]
    if isinstance(ending, Refusal):
        return Rejected(refusals=(ending, *refusals), hazards=tuple(hazards))
    if refusals:
        return Rejected(refusals=tuple(refusals), hazards=tuple(hazards))
    spot = spot_for(host, part, want.kind)
    crossing = crossing_of(host, part, ending, host.receiver)
    own = self_reads(host, part, annotate=want.annotate) if want.kind != "method" else SelfReads()
    left = left_behind(host, part, crossing.parameters)
    refusals = [*crossing.refusals, *own.refusals, *left.refusals]
    taken = (*crossing.parameters, host.receiver)
    refusals = refusals or out_of_reach(host, part, taken, crossing.results)
    hazards += [*crossing.hazards, *own.hazards, *_renamed(host, part)]
    if refusals:
        return Rejected(refusals=tuple(dict.fromkeys(refusals)), hazards=tuple(hazards))
    parameters = _parameters(host, part, want, crossing, own, spot)
    prefix = "await " if is_async_part(part) else "yield from " if yields(part) else ""
    items = _items(host, want.kind, parameters)
    header = Header(
        name=want.name,
        items=items,
        returns=_returns(host, part, want, crossing, ending, spot, items) if prefix != "yield from " else "",
        is_async=prefix == "await ",
        decorators=_decorators(host, want.kind),
    )
    arguments = [text if want.kind == "method" else f"{name}={text}" for name, _, text in parameters]
    call = call_edit(
        host, part, ending, _callee(host, want), arguments, prefix=prefix, results=crossing.results, types=left.texts
    )
    kept = keep_printed(host.source, [(call.start, call.end)] if part.expression is not None else [])
    if kept.unkept:
        return Rejected(refusals=(unkept(host.source, kept.unkept[0]),), hazards=tuple(hazards))
    prologue = (f"global {', '.join(crossing.global_names)}",) if crossing.global_names else ()
    return Extraction(
        part=part,
        spot=spot,
        header=header,
        prologue=prologue,
        results=crossing.results,
        edits=(*own.edits, *left.edits, *want.edits),
        calls=(call, *kept.edits),
        parameters=tuple(parameters),
        hazards=tuple(dict.fromkeys(hazards)),
    )


def _kind_problem(host: Host, kind: str) -> Refusal | None:
    if kind == "function":
        return None
    if host.owner is None:
        message = f"{host.name} is no method, so its block can't become one"
        return host.refusal("not-a-method", host.function, message, 'take a function: kind = "function"')
    if kind == "method" and not host.receiver:
        message = f"{host.name} has no self to call a method on"
        return host.refusal("no-receiver", host.function, message, 'kind = "staticmethod"')
    if host.receiver and host.is_rebound(host.receiver):
        message = f"{host.name} assigns {host.receiver} anew"
        return host.refusal("receiver-rebound", host.function, message, "give that value a name of its own first")
    outer = host.ref.owner.partition(".")[0]
    scopes = table(host.source)
    if not host.receiver and lookup(scopes.scope_of(host.function), outer) is not scopes.module:
        message = f"{outer} is another variable inside {host.name}"
        return host.refusal("U107", host.function, message, 'kind = "function"')
    return None


def _decorators(host: Host, kind: str) -> tuple[str, ...]:
    if kind == "staticmethod":
        return ("staticmethod",)
    return ("classmethod",) if kind == "method" and host.kind is MemberKind.CLASS_METHOD else ()


def _callee(host: Host, want: Want) -> str:
    if want.kind == "function":
        return want.name
    return f"{host.receiver or host.ref.owner}.{want.name}"


def _renamed(host: Host, part: Part) -> list[Hazard]:
    """Classes and functions made in the block are called after the function that makes them."""
    return [
        host.hazard(
            "U110",
            node,
            f"the __qualname__ of {node.name} names the function it is made in, which is now another one",
            "nothing to do unless somebody prints or compares it",
            severity=Severity.NOTE,
        )
        for node in own_nodes(part)
        if isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef))
    ]


def _parameters(
    host: Host, part: Part, want: Want, crossing: Crossing, own: SelfReads, spot: Spot
) -> list[tuple[str, str, str]]:
    """Name, annotation and argument of each, in the order of their first use."""
    in_class = want.kind != "function"
    found: list[tuple[int, tuple[str, str, str]]] = []
    first_use: dict[str, int] = {}
    for occurrence in table(host.source).between(part.start, part.end):
        first_use.setdefault(occurrence.name, occurrence.start)
    for name in crossing.parameters:
        if name not in want.bare:
            text = annotation_of(host, name, spot.offset, in_class=in_class) if want.annotate else ""
            is_read = name in host.region(part).inputs or name not in crossing.results
            found.append((first_use.get(name, part.end) if is_read else part.end, (name, text, name)))
    for each in own.parameters:
        at = host.source.start(each.uses[0].node)
        text = each.annotation
        text = "" if text and missing_name(host, text, spot.offset) else text
        found.append((at, (each.name, text, f"{host.receiver}.{each.path}")))
    return [parameter for _, parameter in sorted(found, key=lambda pair: pair[0])]


def _items(host: Host, kind: str, parameters: list[tuple[str, str, str]]) -> tuple[str, ...]:
    texts = [f"{name}: {annotation}" if annotation else name for name, annotation, _ in parameters]
    if kind == "method":
        return (host.receiver, *texts)
    return ("*", *texts) if texts else ()


def _returns(
    host: Host, part: Part, want: Want, crossing: Crossing, ending: Ending, spot: Spot, items: tuple[str, ...]
) -> str:
    in_class = want.kind != "function"
    if not want.annotate or not (is_annotated(host) or any(":" in item for item in items)):
        return ""
    if ending is Ending.RETURN:
        returns = host.function.returns
        is_plain = not any(yields(Part(statements=tuple(host.function.body), start=0, end=0)))
        return text_at(host, returns, spot.offset, in_class=in_class) if returns is not None and is_plain else ""
    if ending is Ending.VALUE:
        return ""
    del part
    return result_annotation(host, crossing.results, spot.offset, in_class=in_class)


# -- writing


def write(host: Host, extractions: Sequence[Extraction], extra: Sequence[Edit] = ()) -> bytes | Refusal:
    """The file's new body. extra: more edits of the rest of the function."""
    source, unit = host.source, indent_unit(host.source)
    try:
        bodies = [
            body_text(source, Cut(part=each.part, edits=each.edits), each.spot.indent + unit, unit)
            for each in extractions
        ]
    except MixedIndent as error:
        return host.refusal("mixed-indent", host.function, error.message, error.fix)
    edits = [edit for each in extractions for edit in each.calls]
    texts: dict[tuple[int, bool], list[bytes]] = {}
    for each, body in zip(extractions, bodies, strict=True):
        texts.setdefault((each.spot.offset, each.spot.is_above), []).append(_definition(host, each, body, unit))
    for (offset, _), group in texts.items():
        spot = next(each.spot for each in extractions if each.spot.offset == offset)
        edits.append(insertion(host, spot, group))
    parts = [each.part for each in extractions]
    edits += global_edits(host, parts)
    return apply_edits(source.body, [*edits, *extra])


def _definition(host: Host, extraction: Extraction, body: bytes, unit: bytes) -> bytes:
    indent = extraction.spot.indent.decode()
    newline = host.source.text.newline
    inner = indent + unit.decode()
    head = header_lines(extraction.header, indent, unit.decode(), host.files.line_length)
    head += [inner + line for line in extraction.prologue]
    tail = [f"{inner}return {', '.join(extraction.results)}"] if extraction.results else []
    return lines_text(head, newline) + body + lines_text(tail, newline)


def findings(host: Host, extraction: Extraction) -> list[Finding]:
    """What the plan's comments say."""
    path, line = host.source.path, extraction.part.line
    found = [
        Finding(topic="parameters", text=f"{name}: {text}" if text else name, path=path, line=line)
        for name, text, _ in extraction.parameters
    ]
    if extraction.results:
        found.append(Finding(topic="results", text=listed(extraction.results), path=path, line=line))
    return found
