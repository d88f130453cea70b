"""Prep: a method loses `self` where it stands. Attributes become keyword parameters, written ones are returned.

Without a wrapper every call becomes class-qualified; with one the method stays under its name and calls the static one.
Moves nothing: move_definition.py takes the static method away."""

from __future__ import annotations

import ast

from msgspec import Struct
from msgspec.structs import replace

from codemods.schema.hazards import Hazard, Refusal
from codemods.schema.plan import ExtractMethod
from codemods.schema.refs import DefRef
from codemods.schema.result import Finding, Phase
from codemods.source.callsites import call_sites
from codemods.source.classes import ClassKey
from codemods.source.files import FileSet
from codemods.source.locate import Located, find
from codemods.source.members import Member, MemberKind, members
from codemods.source.modules import modules_of
from codemods.source.name_spans import definition
from codemods.source.parse import Function, Source, load
from codemods.source.self_effects import class_effects
from codemods.source.sites import CallSites
from codemods.source.splice import Edit, apply_edits, with_newline
from codemods.transforms.annotations import annotations_for
from codemods.transforms.layout import parameter_brackets, parameter_items, parameters_edit, with_keywords
from codemods.transforms.parameters import How, Needs, needs_of
from codemods.transforms.static_body import (
    Results,
    body_edits,
    flow_of_method,
    header_colon,
    results_of,
)
from codemods.transforms.static_calls import passed, static_calls
from codemods.transforms.static_hazards import Subject, body_hazards
from codemods.transforms.static_place import place_hazards
from codemods.transforms.transform import Planned, Transform, Words, refused
from codemods.transforms.wrapper import wrapper_edit


class Prepared(Struct, frozen=True, kw_only=True, eq=False):
    """The method with everything that is known about the change."""

    located: Located
    function: Function
    owner: ast.ClassDef
    key: ClassKey
    member: Member
    needs: Needs
    results: Results
    hazards: tuple[Hazard, ...]
    refusals: tuple[Refusal, ...]
    sites: CallSites | None

    @property
    def source(self) -> Source:
        return self.located.source


def static_name(step: ExtractMethod, function_name: str) -> str:
    """The name of the static method in prep. With a wrapper the method's own name is taken by the wrapper."""
    wanted = step.name or function_name
    if not step.wrapper or wanted != function_name:
        return wanted
    return f"_{function_name}" if not function_name.startswith("_") else f"{function_name}_impl"


def plan(files: FileSet, step: ExtractMethod) -> Planned:
    """Make the method static in place, with its callers."""
    located = find(files, DefRef.parse(step.method))
    function = located.function
    if located.owner is None:
        return refused(_refusal(located, "not-a-method", f"{located.ref} is a function already", 'use do = "move"'))
    prepared = _prepare(files, step, located, function, located.owner)
    if prepared.refusals:
        return refused(*prepared.refusals, hazards=prepared.hazards)
    return _write(files, step, prepared)


def _refusal(located: Located, code: str, message: str, settle: str) -> Refusal:
    return Refusal(code=code, path=located.path, line=located.node.lineno, message=message, settle=settle)


def _prepare(
    files: FileSet, step: ExtractMethod, located: Located, function: Function, owner: ast.ClassDef
) -> Prepared:
    source = located.source
    key = ClassKey(modules_of(files).module_of(source.path), located.ref.owner)
    member = members(files, source, owner)[function.name]
    needs = needs_of(source, function, step)
    refusals = [*needs.refusals, *_shape_refusals(files, step, located, function, member, needs)]
    hazards: list[Hazard] = []
    if step.annotate and not step.owner:
        needs, found = _annotated(files, source, key, needs, step)
        hazards.extend(found)
    flow = flow_of_method(function, needs.receiver)
    results = results_of(function, needs, flow, step.returns)
    sites = None if step.wrapper else call_sites(files, DefRef(key.module, located.ref.qualname))
    subject = Subject(
        files=files,
        source=source,
        function=function,
        key=key,
        needs=needs,
        results=results,
        flow=flow,
        effects=class_effects(files, key),
        has_wrapper=step.wrapper,
    )
    hazards.extend(body_hazards(subject))
    hazards.extend(place_hazards(files, source, function, key, member, sites))
    return Prepared(
        located=located,
        function=function,
        owner=owner,
        key=key,
        member=member,
        needs=needs,
        results=results,
        hazards=tuple(dict.fromkeys(hazards)),
        refusals=tuple(refusals),
        sites=sites,
    )


def _shape_refusals(
    files: FileSet, step: ExtractMethod, located: Located, function: Function, member: Member, needs: Needs
) -> list[Refusal]:
    """What can't be done whatever the plan accepts."""
    found: list[Refusal] = []
    if not needs.receiver and member.kind is not MemberKind.STATIC:
        found.append(_refusal(located, "no-receiver", f"{function.name} has no first parameter", "use it as it is"))
    if step.returns is not None and set(step.returns) != set(needs.written):
        written = ", ".join(needs.written) or "none"
        message = f"`returns` lists {', '.join(step.returns) or 'none'}, but {function.name} writes {written}"
        found.append(_refusal(located, "returns-mismatch", message, f"write returns = {list(needs.written)}"))
    name = static_name(step, function.name)
    taken = members(files, located.source, located.owner) if located.owner else {}
    if name != function.name and name in taken:
        message = f"the class already has {name}"
        found.append(_refusal(located, "name-taken", message, 'give the function another name: name = "…"'))
    lines = located.source.text
    colon = header_colon(located.source, function)
    if lines.line_of(colon) == function.body[0].lineno and (needs.written or function.body[0] is not function.body[-1]):
        message = f"the body of {function.name} stands on the line of its header"
        found.append(_refusal(located, "one-line-body", message, "put the body on lines of its own first"))
    return found


def _annotated(
    files: FileSet, source: Source, key: ClassKey, needs: Needs, step: ExtractMethod
) -> tuple[Needs, tuple[Hazard, ...]]:
    plain = [each for each in needs.parameters if each.how is How.VALUE and "." not in each.path]
    found = annotations_for(files, source, key, [each.path for each in plain], step.to)
    parameters = tuple(
        replace(each, annotation=found.texts[each.path]) if each in plain and each.path in found.texts else each
        for each in needs.parameters
    )
    return replace(needs, parameters=parameters), found.hazards


def _write(files: FileSet, step: ExtractMethod, prepared: Prepared) -> Planned:
    """All edits; the method's own file gets those of its callers too."""
    source, function = prepared.source, prepared.function
    flow = flow_of_method(function, prepared.needs.receiver)
    body = body_edits(source, function, prepared.needs, prepared.results, flow)
    edits: dict[str, list[Edit]] = {source.path: list(body.edits)}
    hazards, refusals = list(prepared.hazards), list(body.refusals)
    name = static_name(step, function.name)
    if prepared.sites is None:
        callee = f"{prepared.key.qualname}.{name}"
        edit = wrapper_edit(source, function, callee, name, prepared.needs, prepared.results, files.line_length)
        edits[source.path].append(edit)
    else:
        edits[source.path].extend(_static_header(files, prepared, name))
        own = (source.path, source.start(function), source.end(function))
        calls = static_calls(files, prepared.sites, prepared.key, name, prepared.needs, prepared.results, own)
        for path, added in calls.edits.items():
            edits.setdefault(path, []).extend(added)
        hazards.extend(calls.hazards)
        refusals.extend(calls.refusals)
    if refusals:
        return refused(*refusals, hazards=tuple(hazards))
    for path, group in edits.items():
        text = load(files, path).text
        files = files.write(path, text.encode(apply_edits(text.body, group)))
    return Planned(files=files, hazards=tuple(dict.fromkeys(hazards)), findings=tuple(_findings(prepared)))


def _static_header(files: FileSet, prepared: Prepared, name: str) -> list[Edit]:
    """`@staticmethod`, the parameters, the name, and no return annotation that the results would make wrong."""
    source, function = prepared.source, prepared.function
    first = min([source.start(function), *(source.start(each) - 1 for each in function.decorator_list)])
    at = source.text.line_start(first)
    line = source.text.indent_at(first) + b"@staticmethod\n"
    edits = [Edit(at, at, with_newline(line, source.text.newline))]
    items = parameter_items(source, function, skip_first=True)
    items = with_keywords(items, [each.declared() for each in passed(prepared.needs, prepared.results)])
    edits.append(parameters_edit(source, function, items, files.line_length))
    if name != function.name:
        start, end = definition(source, function)
        edits.append(Edit(start, end, name.encode()))
    if prepared.results.attributes and function.returns is not None:
        close = parameter_brackets(source, function).close + 1
        edits.append(Edit(close, source.end(function.returns), b""))
    return edits


def _findings(prepared: Prepared) -> list[Finding]:
    needs, results = prepared.needs, prepared.results
    path = prepared.source.path
    found = [
        Finding(
            topic="parameters",
            text=f"{each.declared()} = {each.argument(needs.receiver)}",
            path=path,
            line=each.uses[0].node.lineno if each.uses else prepared.function.lineno,
        )
        for each in passed(needs, results)
    ]
    own = [Finding(topic="results", text=f"{results.own} (the method's own)")] if results.own else []
    found += own + [Finding(topic="results", text=f"{needs.receiver}.{each}") for each in results.attributes]
    for site in prepared.sites.sites if prepared.sites else ():
        text = f"{site.certainty.value}: {site.kind.value} ({site.reason})"
        found.append(Finding(topic="calls", text=text, path=site.path, line=site.line))
    return found


def words(step: ExtractMethod) -> Words:
    """The commit's words."""
    ref = DefRef.parse(step.method)
    if step.wrapper:
        return Words(
            f"Split {ref.qualname} into a wrapper and a static method",
            f"The body of {ref.qualname} goes into a static method that takes what it read from the object as keyword "
            "arguments. The method stays and passes them.",
        )
    return Words(
        f"Make {ref.qualname} static",
        f"{ref.qualname} takes what it read from the object as keyword arguments; its calls are class-qualified.",
    )


TRANSFORM = Transform(name="make_static", phase=Phase.PREP, args=ExtractMethod, plan=plan, words=words)
