"""A block of statements, or one expression, becomes a function or a method of the same class, in place.

Takes what the block reads as parameters and gives back what is read after it. Stops at the module's edge: moving the
new function elsewhere is move_definition.py's."""

from __future__ import annotations

from codemods.schema.hazards import Refusal
from codemods.schema.plan import ExtractFunction
from codemods.schema.refs import DefRef
from codemods.schema.result import Phase
from codemods.source.files import FileSet
from codemods.source.locate import find
from codemods.transforms.block_alias import aliases_of, bare_of, unused_edits
from codemods.transforms.block_extract import Rejected, Want, extraction_of, findings, write
from codemods.transforms.block_find import Part, find_block, find_expression
from codemods.transforms.block_host import Host
from codemods.transforms.transform import Planned, Transform, Words, refused


def plan(files: FileSet, step: ExtractFunction) -> Planned:
    """Take the block out of its function. Raises what `find` raises."""
    host = Host(files, find(files, DefRef.parse(step.function)))
    part = _part(host, step)
    if isinstance(part, Refusal):
        return refused(part)
    if step.to and step.kind != "function":
        message = f"a {step.kind} stays in its class and can't go to {step.to}"
        return refused(host.refusal("stays-in-class", host.function, message, 'leave out `to`, or kind = "function"'))
    known = aliases_of(host) if step.kind == "method" and host.receiver else []
    bare = bare_of(host, part, known)
    want = Want(name=step.name, kind=step.kind, annotate=step.annotate, bare=bare.names, edits=bare.edits)
    found = extraction_of(host, part, want)
    hazards = (*bare.hazards, *found.hazards)
    if isinstance(found, Rejected):
        return refused(*found.refusals, hazards=hazards)
    body = write(host, [found], unused_edits(host, known, [(part, bare)]))
    if isinstance(body, Refusal):
        return refused(body, hazards=hazards)
    return Planned(
        files=files.write(host.source.path, host.source.text.encode(body)),
        hazards=hazards,
        findings=tuple(findings(host, found)),
    )


def _part(host: Host, step: ExtractFunction) -> Part | Refusal:
    if not step.expression:
        return find_block(host.source, host.function, step.first, step.last)
    if step.last:
        message = "`expression` names one expression, and `last` the end of a block"
        return host.refusal("two-blocks", host.function, message, "give `first` and `last`, or `expression`")
    return find_expression(host.source, host.function, step.expression, step.first)


def words(step: ExtractFunction) -> Words:
    """The commit's words."""
    ref = DefRef.parse(step.function)
    thing = "an expression" if step.expression else "a block of statements"
    home = "a function" if step.kind == "function" else f"a {step.kind} of the same class"
    return Words(
        f"Extract {step.name} from {ref.qualname}",
        f"{thing.capitalize()} of {ref.qualname} becomes {home}, {step.name}, which takes what it reads and gives back "
        "what is read after it.",
    )


TRANSFORM = Transform(name="extract_function", phase=Phase.PREP, args=ExtractFunction, plan=plan, words=words)
