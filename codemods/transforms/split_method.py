"""A long method becomes several methods of the same class, in order, and calls them. One commit.

Each piece is a block that becomes a method (see block_extract.py), judged in the method as it was before. Stops at
blocks that overlap."""

from __future__ import annotations

from itertools import pairwise

from msgspec.structs import replace

from codemods.schema.hazards import Hazard, Refusal
from codemods.schema.plan import Piece, SplitMethod
from codemods.schema.refs import DefRef
from codemods.schema.result import Finding, Phase
from codemods.source.files import FileSet
from codemods.source.locate import find
from codemods.source.splice import Edit
from codemods.transforms.block_alias import aliases_of, bare_of, unused_edits
from codemods.transforms.block_extract import Extraction, Rejected, Want, extraction_of, findings, write
from codemods.transforms.block_find import Part, find_block
from codemods.transforms.block_host import Host, listed
from codemods.transforms.block_place import Spot, definition_end
from codemods.transforms.transform import Planned, Transform, Words, refused


def plan(files: FileSet, step: SplitMethod) -> Planned:
    """Take all pieces out of the method. Raises what `find` raises."""
    host = Host(files, find(files, DefRef.parse(step.method)))
    if not step.pieces:
        return refused(host.refusal("no-pieces", host.function, "the step names no pieces", "add [[step.pieces]]"))
    parts, refusals = _parts(host, step.pieces)
    if refusals:
        return refused(*refusals)
    known = aliases_of(host) if host.receiver else []
    extractions: list[Extraction] = []
    hazards: list[Hazard] = []
    bares = [bare_of(host, part, known) for part in parts]
    for piece, part, bare in zip(step.pieces, parts, bares, strict=True):
        found = extraction_of(host, part, Want(name=piece.name, kind="method", bare=bare.names, edits=bare.edits))
        hazards.extend([*bare.hazards, *found.hazards])
        if isinstance(found, Rejected):
            refusals.extend(found.refusals)
        else:
            extractions.append(found)
    if refusals:
        return refused(*dict.fromkeys(refusals), hazards=tuple(dict.fromkeys(hazards)))
    body = write(
        host,
        _in_order(host, extractions),
        [*unused_edits(host, known, list(zip(parts, bares, strict=True))), *_joined(host, parts)],
    )
    if isinstance(body, Refusal):
        return refused(body)
    return Planned(
        files=files.write(host.source.path, host.source.text.encode(body)),
        hazards=tuple(dict.fromkeys(hazards)),
        findings=tuple(finding for each in extractions for finding in _findings(host, each)),
    )


def _findings(host: Host, extraction: Extraction) -> list[Finding]:
    return [replace(each, text=f"{extraction.header.name}: {each.text}") for each in findings(host, extraction)]


def _parts(host: Host, pieces: tuple[Piece, ...]) -> tuple[list[Part], list[Refusal]]:
    """The block of each piece; they must not overlap, nor share a name."""
    parts: list[Part] = []
    refusals: list[Refusal] = []
    for piece in pieces:
        found = find_block(host.source, host.function, piece.first, piece.last)
        if isinstance(found, Refusal):
            refusals.append(replace(found, message=f"{piece.name}: {found.message}"))
        else:
            parts.append(found)
    if refusals:
        return parts, refusals
    named = sorted(zip(parts, pieces, strict=True), key=lambda pair: pair[0].start)
    for (before, first), (behind, second) in pairwise(named):
        if behind.start < before.end:
            message = f"{first.name} and {second.name} overlap"
            refusals.append(host.refusal("pieces-overlap", behind.line, message, "end one before the other begins"))
    names = [piece.name for piece in pieces]
    twice = sorted({name for name in names if names.count(name) > 1})
    if twice:
        message = f"{listed(twice)} is the name of more than one piece"
        refusals.append(host.refusal("U107", host.function, message, "give each piece a name of its own"))
    return parts, refusals


def _in_order(host: Host, extractions: list[Extraction]) -> list[Extraction]:
    """All behind the method itself, in the order of the plan."""
    spot = extractions[0].spot
    place = Spot(offset=definition_end(host, host.function), is_above=False, indent=spot.indent, gap=spot.gap)
    return [replace(each, spot=place) for each in extractions]


def _joined(host: Host, parts: list[Part]) -> list[Edit]:
    """Blank lines between two blocks that are now two calls."""
    body = host.source.body
    edits = []
    for before, behind in pairwise(sorted(parts, key=lambda part: part.start)):
        if before.suite == behind.suite and not body[before.end : behind.start].strip():
            edits.append(Edit(before.end, behind.start, b""))
    return [edit for edit in edits if edit.start < edit.end]


def words(step: SplitMethod) -> Words:
    """The commit's words."""
    ref = DefRef.parse(step.method)
    names = [piece.name for piece in step.pieces]
    return Words(
        f"Split {ref.qualname} into {len(names)} methods",
        f"{ref.qualname} calls {listed(names)}, which hold its blocks, in the order they had.",
    )


TRANSFORM = Transform(name="split_method", phase=Phase.PREP, args=SplitMethod, plan=plan, words=words)
