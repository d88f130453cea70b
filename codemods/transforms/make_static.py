"""Prep: a method loses `self` where it stands. Attributes become keyword parameters, written ones are returned.

Without a wrapper every call becomes class-qualified; with one the method stays under its name and calls the static one.
Moves nothing: move_definition.py takes the static method away."""

from __future__ import annotations

import ast

from msgspec import Struct
from msgspec.structs import replace

from codemods.schema.hazards import Hazard, Refusal, Severity
from codemods.schema.plan import ExtractMethod
from codemods.schema.refs import DefRef
from codemods.schema.result import Finding, Phase
from codemods.source.callsites import call_sites
from codemods.source.classes import ClassKey
from codemods.source.files import FileSet
from codemods.source.locate import Located, find_method
from codemods.source.members import Member, MemberKind, members
from codemods.source.modules import modules_of
from codemods.source.name_spans import definition
from codemods.source.parse import Function, Source, load
from codemods.source.sites import CallSites
from codemods.source.splice import Edit, apply_edits, with_newline
from codemods.transforms.annotations import annotations_for, result_annotation
from codemods.transforms.layout import parameter_brackets, parameter_edits
from codemods.transforms.parameters import How, Needs, needs_of
from codemods.transforms.signature_comments import changed_parameters
from codemods.transforms.static_body import body_edits, flow_of_method, is_on_header_line, unfolded
from codemods.transforms.static_calls import Changed, keywords_of_callers, passed, static_calls
from codemods.transforms.static_hazards import Subject, body_hazards, body_refusals
from codemods.transforms.static_names import shape_refusals, static_name
from codemods.transforms.static_place import place_hazards, place_refusals, static_already_hazards
from codemods.transforms.static_receiver import Receiver
from codemods.transforms.static_results import Results, results_of
from codemods.transforms.transform import Planned, Transform, Words, refused
from codemods.transforms.wrapper import Wrapped, wrapper_edits

__all__ = ["TRANSFORM", "plan", "static_name", "words"]


class Prepared(Struct, frozen=True, kw_only=True, eq=False):
    """The method with everything that is known about the change."""

    located: Located
    function: Function
    owner: ast.ClassDef
    key: ClassKey
    needs: Needs
    results: Results
    result_type: str
    hazards: tuple[Hazard, ...]
    refusals: tuple[Refusal, ...]
    sites: CallSites | None

    @property
    def source(self) -> Source:
        return self.located.source


def plan(files: FileSet, step: ExtractMethod) -> Planned:
    """Make the method static in place, with its callers."""
    located = find_method(files, DefRef.parse(step.method))
    function = located.function
    if located.owner is None:
        return refused(_refusal(located, "not-a-method", f"{located.ref} is a function already", 'use do = "move"'))
    member = members(files, located.source, located.owner)[function.name]
    if member.kind is MemberKind.STATIC:
        return _static_already(files, step, located)
    prepared = _prepare(files, step, located, function, located.owner, member)
    if prepared.refusals:
        return refused(*prepared.refusals, hazards=prepared.hazards)
    return _write(files, step, prepared)


def _static_already(files: FileSet, step: ExtractMethod, located: Located) -> Planned:
    """Nothing to change; what speaks against qualifying its calls is said all the same."""
    key = ClassKey(modules_of(files).module_of(located.path), located.ref.owner)
    sites = call_sites(files, DefRef(key.module, located.ref.qualname))
    hazards = static_already_hazards(files, located.source, located.function, key, sites, has_wrapper=step.wrapper)
    return Planned(files=files, hazards=tuple(dict.fromkeys(hazards)))


def _refusal(located: Located, code: str, message: str, settle: str) -> Refusal:
    return Refusal(code=code, path=located.path, line=located.node.lineno, message=message, settle=settle)


def _prepare(
    files: FileSet,
    step: ExtractMethod,
    located: Located,
    function: Function,
    owner: ast.ClassDef,
    member: Member,
) -> Prepared:
    source = located.source
    key = ClassKey(modules_of(files).module_of(source.path), located.ref.owner)
    sites = None if step.wrapper else call_sites(files, DefRef(key.module, located.ref.qualname))
    needs, hazards = _needs(files, step, source, function, key, sites)
    flow = flow_of_method(function, needs)
    results = results_of(function, needs, flow, step.returns)
    subject = Subject(
        files=files,
        source=source,
        function=function,
        key=key,
        needs=needs,
        results=results,
        flow=flow,
        has_wrapper=step.wrapper,
        leaves=bool(step.to),
        on_class=member.kind is MemberKind.CLASS_METHOD,
    )
    refusals = [*needs.refusals, *shape_refusals(files, step, located, function, key, needs)]
    refusals += [*place_refusals(source, function, member, has_wrapper=step.wrapper), *body_refusals(subject)]
    refusals += changed_parameters(
        source,
        function,
        num_new=len(passed(needs, results)),
        returns_more=bool(results.attributes),
        has_wrapper=step.wrapper,
    )
    if not refusals:
        takes_values = bool(passed(needs, results))
        hazards += body_hazards(subject)
        hazards += place_hazards(
            files, source, owner, function, key, sites, leaves=bool(step.to), takes_values=takes_values
        )
    return Prepared(
        located=located,
        function=function,
        owner=owner,
        key=key,
        needs=needs,
        results=results,
        result_type=result_annotation(files, source, function, key, results, step.to) if step.annotate else "",
        hazards=tuple(dict.fromkeys(hazards)),
        refusals=tuple(refusals),
        sites=sites,
    )


def _needs(
    files: FileSet, step: ExtractMethod, source: Source, function: Function, key: ClassKey, sites: CallSites | None
) -> tuple[Needs, list[Hazard]]:
    """The parameters, with the annotations they can have."""
    avoid: frozenset[str] | None = frozenset()
    if function.args.kwarg is not None:
        avoid = keywords_of_callers(
            files, sites or call_sites(files, DefRef(key.module, f"{key.qualname}.{function.name}"))
        )
    needs = needs_of(source, function, step, avoid=avoid or frozenset())
    hazards = [] if avoid is not None or not needs.parameters else [_open_keywords(source, function, needs)]
    if not step.annotate or step.owner:
        return needs, hazards
    plain = [each for each in needs.parameters if each.how is How.VALUE and "." not in each.path]
    found = annotations_for(files, source, key, [each.path for each in plain], step.to)
    parameters = tuple(
        replace(each, annotation=found.texts[each.path]) if each in plain and each.path in found.texts else each
        for each in needs.parameters
    )
    return replace(needs, parameters=parameters), [*hazards, *found.hazards]


def _open_keywords(source: Source, function: Function, needs: Needs) -> Hazard:
    names = ", ".join(f"{each.name}=" for each in needs.parameters)
    taker = function.args.kwarg.arg if function.args.kwarg else ""
    return Hazard(
        code="U107",
        severity=Severity.PROVE,
        path=source.path,
        line=function.lineno,
        message=f"**{taker} takes any keyword, also {names}, which are parameters now",
        settle="give the parameters names that no caller uses: parameters",
    )


def _write(files: FileSet, step: ExtractMethod, prepared: Prepared) -> Planned:
    """All edits; the method's own file gets those of its callers too."""
    source, function = prepared.source, prepared.function
    flow = flow_of_method(function, prepared.needs)
    body = body_edits(source, function, prepared.needs, prepared.results, flow)
    own = list(body.edits)
    edits: dict[str, list[Edit]] = {}
    hazards, refusals = list(prepared.hazards), list(body.refusals)
    name = static_name(files, step, prepared.located)
    is_unfolded = is_on_header_line(source, function) and (
        bool(prepared.results.attributes) or (step.wrapper and function.body[0] is not function.body[-1])
    )
    if is_unfolded:
        first, *others = unfolded(source, function)
        own += others if step.wrapper else [first, *others]
    if prepared.sites is None:
        own += wrapper_edits(
            Wrapped(
                source=source,
                function=function,
                callee=f"{prepared.key.qualname}.{name}",
                name=name,
                needs=prepared.needs,
                results=prepared.results,
                line_length=files.line_length,
                result=prepared.result_type,
            )
        )
    else:
        changed = Changed(
            key=prepared.key,
            name=name,
            path=source.path,
            function=function,
            needs=prepared.needs,
            results=prepared.results,
            body=tuple(own),
        )
        own += _static_header(files, prepared, name)
        calls = static_calls(files, prepared.sites, changed)
        edits = calls.edits
        hazards.extend(calls.hazards)
        refusals.extend(calls.refusals)
    if refusals:
        return refused(*refusals, hazards=tuple(hazards))
    # what follows a call comes before what is added at the end of the method
    edits[source.path] = [*edits.get(source.path, []), *_outside(own, edits.get(source.path, []))]
    for path, group in edits.items():
        text = load(files, path).text
        files = files.write(path, text.encode(apply_edits(text.body, group)))
    return Planned(files=files, hazards=tuple(dict.fromkeys(hazards)), findings=tuple(_findings(prepared)))


def _outside(own: list[Edit], calls: list[Edit]) -> list[Edit]:
    """The method's own edits without those in a call of itself, whose text is replaced as a whole."""
    replaced = [each for each in calls if each.end > each.start]
    return [edit for edit in own if not any(each.start <= edit.start and edit.end <= each.end for each in replaced)]


def _static_header(files: FileSet, prepared: Prepared, name: str) -> list[Edit]:
    """`@staticmethod`, the parameters, the name, and the annotation of what is returned now."""
    source, function = prepared.source, prepared.function
    first = min([source.start(function), *(source.start(each) - 1 for each in function.decorator_list)])
    at = source.text.line_start(first)
    line = source.text.indent_at(first) + b"@staticmethod\n"
    edits = [Edit(at, at, with_newline(line, source.text.newline))]
    declared = [each.declared() for each in passed(prepared.needs, prepared.results)]
    edits += parameter_edits(source, function, declared, files.line_length)
    if name != function.name:
        start, end = definition(source, function)
        edits.append(Edit(start, end, name.encode()))
    if prepared.results.attributes and function.returns is not None:
        close = parameter_brackets(source, function).close + 1
        if prepared.result_type:
            start, end = source.start(function.returns), source.end(function.returns)
            edits.append(Edit(start, end, prepared.result_type.encode()))
        else:
            edits.append(Edit(close, source.end(function.returns), b""))
    return edits


def _findings(prepared: Prepared) -> list[Finding]:
    needs, results = prepared.needs, prepared.results
    path = prepared.source.path
    held = Receiver(text=needs.receiver)
    found = [
        Finding(
            topic="parameters",
            text=f"{each.declared()} = {each.argument(held)}",
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
