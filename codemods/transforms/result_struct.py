"""A function that returns a tuple returns a frozen keyword-only msgspec.Struct, and every caller reads it by field.

Stops where somebody uses the tuple as a whole. What is returned is result_returns.py's, what callers do is
result_calls.py's."""

from __future__ import annotations

import ast
from collections.abc import Iterator

from codemods.schema.hazards import Hazard, Refusal, Severity
from codemods.schema.plan import ResultStruct
from codemods.schema.refs import DefRef
from codemods.schema.result import Finding, Phase
from codemods.source.callsites import call_sites
from codemods.source.classes import declarers, names_of, overriders
from codemods.source.files import FileSet
from codemods.source.locate import find
from codemods.source.members import MemberKind
from codemods.source.modules import modules_of
from codemods.source.parse import load
from codemods.source.sites import CallSites, node_at
from codemods.source.splice import Edit, apply_edits
from codemods.source.strings import mentions
from codemods.transforms.adjust_imports import Importer
from codemods.transforms.block_host import Host
from codemods.transforms.block_place import Spot, insertion, name_problems, spot_above
from codemods.transforms.result_calls import rewrite_calls
from codemods.transforms.result_returns import Fields, class_text, fields_of, return_edits, returned_tuples
from codemods.transforms.signature_comments import changed_result
from codemods.transforms.transform import Planned, Transform, Words, refused

_TRANSPARENT = frozenset({"staticmethod", "classmethod"})


def plan(files: FileSet, step: ResultStruct) -> Planned:
    """Make the struct, return it, and rewrite the callers. Raises what `find` and `call_sites` raise."""
    host = Host(files, find(files, DefRef.parse(step.function)))
    hazards: list[Hazard] = []
    refusals: list[Refusal] = []
    for problem in (*name_problems(host, step.name, "function"), *_family(host), *_decorators(host)):
        (refusals if isinstance(problem, Refusal) else hazards).append(problem)  # type: ignore[arg-type]
    refusals += changed_result(host.source, host.function)
    sites = call_sites(files, DefRef(modules_of(files).module_of(host.source.path), host.ref.qualname))
    own = _own_calls(host, sites)
    tuples, problems = returned_tuples(host, own)
    if problems:
        return refused(*refusals, *problems, hazards=tuple(hazards))
    spot = spot_above(host)
    fields = fields_of(host, step, tuples, spot.offset)
    if isinstance(fields, list):
        return refused(*refusals, *fields, hazards=tuple(hazards))
    calls = rewrite_calls(files, sites, fields.names, own)
    hazards += [*calls.hazards, *_strings(host)]
    refusals += calls.refusals
    if refusals:
        return refused(*dict.fromkeys(refusals), hazards=tuple(dict.fromkeys(hazards)))
    edits = dict(calls.edits)
    own_edits = [*edits.get(host.source.path, []), *_definition_edits(host, step, fields, tuples, spot)]
    edits[host.source.path] = own_edits
    for path, group in edits.items():
        text = load(files, path).text
        files = files.write(path, text.encode(apply_edits(text.body, group)))
    return Planned(files=files, hazards=tuple(dict.fromkeys(hazards)), findings=tuple(_findings(host, fields, sites)))


def _own_calls(host: Host, sites: CallSites) -> frozenset[ast.AST]:
    """Calls that the function makes of itself to return what they return."""
    found = set()
    for site in sites.sure:
        if site.path == host.source.path and site.is_call:
            node = node_at(host.source, site)
            above = host.source.parents[node]
            above = host.source.parents[above] if isinstance(above, ast.Await) else above
            around = host.source.enclosing(node, ast.FunctionDef, ast.AsyncFunctionDef, ast.Lambda)
            if isinstance(above, ast.Return) and around is host.function:
                found.add(node)
    return frozenset(found)


def _definition_edits(
    host: Host, step: ResultStruct, fields: Fields, tuples: list[ast.Tuple], spot: Spot
) -> Iterator[Edit]:
    importer = Importer(host.files, host.source)
    module = importer.need("msgspec", "", style="module", at=None)
    yield from importer.edits()
    yield insertion(host, spot, [class_text(host, step.name, f"{module.text}.Struct", fields, spot.indent)])
    yield from return_edits(host, step.name, fields, tuples)
    returns = host.function.returns
    if returns is not None:
        yield Edit(host.source.start(returns), host.source.end(returns), step.name.encode())


# -- what speaks against it


def _family(host: Host) -> Iterator[Hazard]:
    """Other classes' versions of the method go on returning tuples."""
    if host.key is None:
        return
    others = [*overriders(host.files, host.key, host.name), *declarers(host.files, host.key, host.name)]
    if others:
        yield host.hazard(
            "U104",
            host.function,
            f"{names_of(others)} has a {host.name} of its own, which goes on returning a tuple to the same callers",
            "change the other method the same way first, or say in `accept` why it does not matter",
        )


def _decorators(host: Host) -> Iterator[Hazard]:
    if host.kind is MemberKind.ACCESSOR:
        yield host.hazard(
            "U112", host.function, f"{host.name} is a property: it is read, not called", "make it a method first"
        )
        return
    for decorator in host.function.decorator_list:
        if not (isinstance(decorator, ast.Name) and decorator.id in _TRANSPARENT):
            yield host.hazard(
                "U112",
                decorator,
                f"{ast.unparse(decorator)} receives what {host.name} returns",
                "say in `accept` why it takes a struct as well",
            )


def _strings(host: Host) -> Iterator[Hazard]:
    """A patch puts something else in the function's place, whose results callers will read by field; who looks the
    function up by its name does something with the result that can't be seen."""
    module = modules_of(host.files).module_of(host.source.path)
    for mention in mentions(host.files, module, host.ref.qualname):
        if mention.is_sure and mention.kind in ("patch-target", "setattr-name", "getattr"):
            yield Hazard(
                code="U111",
                severity=Severity.STOP,
                path=mention.path,
                line=mention.line,
                message=f"this text names {host.name}, whose results are read by field from now on",
                settle="let a replacement return the struct, or say in `accept` why the result does not matter here",
            )


def _findings(host: Host, fields: Fields, sites: CallSites) -> Iterator[Finding]:
    path, line = host.source.path, host.source.line(host.function)
    for name, text in fields.types.items():
        yield Finding(topic="results", text=f"{name}: {text}", path=path, line=line)
    for site in sites.sites:
        yield Finding(topic="calls", text=f"{site.certainty.value}: {site.kind.value}", path=site.path, line=site.line)


def words(step: ResultStruct) -> Words:
    """The commit's words."""
    ref = DefRef.parse(step.function)
    return Words(
        f"Return {step.name} from {ref.qualname}",
        f"The results of {ref.qualname} become a frozen struct with keyword-only fields; callers read them by name.",
    )


TRANSFORM = Transform(name="result_struct", phase=Phase.PREP, args=ResultStruct, plan=plan, words=words)
