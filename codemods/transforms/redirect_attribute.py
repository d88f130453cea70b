"""redirect-attribute: `x.tp_size` is read as `x.ps.tp_size`, wherever x is known to be an object of the class.

Reads and updates go to the other object; plain assignments in the class go there too, or away (`drop`). Whether the
other object is there and has the same value is redirect_via.py's and redirect_drop.py's to judge."""

from __future__ import annotations

import ast
import keyword
from collections.abc import Iterable, Iterator

from codemods.schema.hazards import Refusal
from codemods.schema.plan import RedirectAttribute
from codemods.schema.refs import DefRef
from codemods.schema.result import Finding, Phase
from codemods.source.attribute_sites import Access, AttributeSite, Sure, attribute_sites, bearers
from codemods.source.classes import ClassKey, key_of, mro
from codemods.source.files import FileSet
from codemods.source.kept_text import keep_printed
from codemods.source.parse import Source
from codemods.source.receiver_kinds import ClassObject
from codemods.source.receivers import receiver_type, scope_at
from codemods.source.splice import Edit
from codemods.source.strings import mentions_of
from codemods.transforms.redirect_drop import Dropping
from codemods.transforms.redirect_via import Via
from codemods.transforms.rename import find_place
from codemods.transforms.rename_attribute import unsure
from codemods.transforms.rename_data import AsData
from codemods.transforms.rename_report import Edits, refusal, shortened
from codemods.transforms.rename_strings import left_behind
from codemods.transforms.transform import Planned, Transform, Words, refused


def plan(files: FileSet, step: RedirectAttribute) -> Planned:
    """The plan of the step. Raises UnknownModule, UnknownDefinition, AmbiguousDefinition, BadReference, Unparsable."""
    place = find_place(files, DefRef.parse(step.attribute))
    source, node = place.source, place.around
    if not isinstance(node, ast.ClassDef):
        message = f"{step.attribute} does not name an attribute of a class"
        return refused(refusal("unknown-definition", source.path, 0, message, "write MODULE:Class.attribute"))
    key = key_of(files, source, node, scope_at(source, node))
    old, new = place.name, step.to or place.name
    problems = [*_bad_step(source, node, step, new), *_not_there(files, source, node, key, old)]
    if problems:
        return refused(*problems)
    found = attribute_sites(files, key, old)
    via = Via(files, key, found.owners, step.via, new)
    sites = [site for site in found.sites if not _is_redirected(site, step.via)]
    dropping = Dropping(files, via, old, is_wanted=step.drop)
    edits = Edits(files)
    problems = [*via.problems(), *dropping.problems(), *_patterns(sites, via)]
    for same in _by_source(site for site in sites if site.sure is Sure.YES):
        problems.extend(_redirect(files, edits, same, via, dropping))
    if problems:
        return refused(*dict.fromkeys(problems))
    dropping.remove(edits)
    sure = [site for site in sites if site.sure is Sure.YES]
    targets = [(owner.module, f"{owner.qualname}.{old}") for owner in found.owners]
    what = f"{key.name}.{old}, now {via.text}"
    texts = [each for each in mentions_of(files, targets) if each.kind != "slots"]
    data = AsData(files, found.owners, old, is_field=False).hazards()
    strings = [left_behind(each, what, mode="rewrite") for each in texts]
    hazards = [
        *via.hazards(sure, writes=dropping.leaves_writes),
        *dropping.hazards,
        *unsure(sites, f"{key.name}.{old}"),
        *strings,
        *data,
    ]
    text = f"{len(sure)} places in {len({site.path for site in sure})} files read {via.text} now"
    finding = Finding(topic="reads", text=text, path=source.path, line=node.lineno)
    return Planned(files=edits.applied(), hazards=tuple(shortened(hazards)), findings=(finding,))


def _bad_step(source: Source, node: ast.ClassDef, step: RedirectAttribute, new: str) -> Iterator[Refusal]:
    for part in (*step.via.split("."), new):
        if not part.isidentifier() or keyword.iskeyword(part):
            message = f"{part!r} is no name for an attribute"
            yield refusal("bad-name", source.path, node.lineno, message, "choose a name that Python takes")
            return
    if step.via.partition(".")[0] == DefRef.parse(step.attribute).name:
        message = f"{step.via} starts with the attribute itself"
        yield refusal("bad-name", source.path, node.lineno, message, "name another attribute to go through")


def _not_there(files: FileSet, source: Source, node: ast.ClassDef, key: ClassKey, name: str) -> Iterator[Refusal]:
    having = bearers(files, name)
    if key in having:
        return
    above = next((each for each in mro(files, key).classes if each in having), None)
    if above is not None:
        message = f"{key.name} inherits {name} from {above.name}"
        yield refusal("inherited", source.path, node.lineno, message, f"redirect {above}.{name} instead")
    else:
        message = f"{key.name} has no {name!r}, in its body or set by its methods"
        yield refusal("unknown-definition", source.path, node.lineno, message, "name an attribute that is there")


def _is_redirected(site: AttributeSite, via: str) -> bool:
    """`x.ps.tp_size` itself: the place where the value comes from."""
    node = site.node
    return isinstance(node, ast.Attribute) and f".{ast.unparse(node.value)}".endswith(f".{via}")


def _by_source(sites: Iterable[AttributeSite]) -> list[list[AttributeSite]]:
    found: dict[int, list[AttributeSite]] = {}
    for site in sites:
        found.setdefault(id(site.source), []).append(site)
    return list(found.values())


def _patterns(sites: Iterable[AttributeSite], via: Via) -> Iterator[Refusal]:
    for site in sites:
        if site.access is Access.PATTERN and site.sure is not Sure.DOUBLE:
            message = f"a pattern has no way to write {via.text}"
            yield refusal("U119", site.path, site.line, message, "write the comparison as a guard first")


def _redirect(
    files: FileSet, edits: Edits, sites: list[AttributeSite], via: Via, dropping: Dropping
) -> Iterator[Refusal]:
    source = sites[0].source
    spans: list[tuple[int, int]] = []
    for site in sites:
        node = site.node
        if not isinstance(node, ast.Attribute) or dropping.takes(site):
            continue
        owner = receiver_type(files, source, node.value)
        if isinstance(owner, ClassObject) and not via.is_on_class:
            message = f"{ast.unparse(node)} is read from the class, which has no {via.head} before an object is made"
            yield refusal("U102", site.path, site.line, message, "read it from an object first")
            continue
        if site.access is not Access.READ and via.is_frozen:
            message = f"{via.text} can't be assigned: its class is frozen"
            settle = "drop the assignment, or build the object with the value"
            yield refusal("frozen", site.path, site.line, message, settle)
        dropping.leaves_writes = dropping.leaves_writes or site.access is not Access.READ
        edits.add(source, [Edit(site.start, site.end, via.text.encode())])
        spans.append((site.start, site.end))
    kept = keep_printed(source, spans)
    edits.add(source, kept.edits)
    for at in kept.unkept:
        message = "what this f-string prints with `=` can't be written into its string"
        yield refusal("U107", source.path, source.text.line_of(at), message, "write the text out by hand first")


def words(step: RedirectAttribute) -> Words:
    """The commit's words."""
    ref = DefRef.parse(step.attribute)
    new = f"{step.via}.{step.to or ref.name}"
    dropped = f" The assignments of {ref.name} go away." if step.drop else ""
    return Words(
        f"Read {ref.owner}.{ref.name} as {new}",
        f"Whoever reads {ref.name} of a {ref.owner} reads {new}.{dropped}",
    )


TRANSFORM = Transform(name="redirect_attribute", phase=Phase.PREP, args=RedirectAttribute, plan=plan, words=words)
