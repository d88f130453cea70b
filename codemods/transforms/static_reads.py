"""U101 and U102: values that the method read when it got there, and that its caller now reads before the call.

Judges each parameter; what is written is static_writes.py's."""

from __future__ import annotations

import ast
from collections.abc import Iterator

from codemods.schema.hazards import Hazard, Severity
from codemods.source.classes import dynamic_lookup
from codemods.source.flow import Event, Kind, Place, Risk
from codemods.source.flow import places as flow_places
from codemods.source.flow_failures import risks_after_failed_read
from codemods.source.flow_points import Point
from codemods.source.imports import Origin, resolve_dotted
from codemods.source.modules import modules_of
from codemods.source.presence import Presence
from codemods.source.receiver_kinds import NotIn
from codemods.source.receivers import receiver_type, scope_at
from codemods.source.usage import Use, UseKind
from codemods.transforms.parameters import How, Parameter
from codemods.transforms.static_failures import may_raise
from codemods.transforms.static_subject import Subject

_WAITS = frozenset({"acquire", "result", "sleep", "wait", "wait_for"})
_SUSPENDS = (ast.Await, ast.Yield, ast.YieldFrom, ast.AsyncFor, ast.AsyncWith)
_QUIET = frozenset({"getLogger", "debug", "info", "warning", "error", "exception", "log", "print"})


def read_hazards(subject: Subject, parameter: Parameter) -> Iterator[Hazard]:
    """Both hazards of one parameter."""
    if parameter.how is not How.OWNER and parameter.is_needed:
        yield from _stale(subject, parameter)
        if parameter.attribute not in subject.results.attributes or parameter.lookup[0]:
            yield from _early(subject, parameter)


# -- U101


def _stale(subject: Subject, parameter: Parameter) -> Iterator[Hazard]:
    """Read once at the call; the body read it later, and something in between may have changed it."""
    attribute = parameter.attribute
    if parameter.how is How.LAZY or subject.is_method(attribute):
        return
    line = parameter.uses[0].node.lineno
    lazy = f'read it where it was read: lazy = ["{parameter.path}"]'
    if attribute in subject.needs.written:
        lazy = "pass the object, so that the body goes on reading and writing it: owner"
    behind = subject.behind(attribute)
    written = behind - {attribute} & set(subject.needs.written)
    if written and reads_after_write(subject, parameter.key, written):
        names = ", ".join(sorted(written))
        message = f"{attribute} is made from {names}, which this method writes before it reads {attribute}"
        yield subject.hazard("U101", Severity.STOP, line, message, "pass the object: owner")
        return
    places = subject.flow.risks_before_read(parameter.key, Risk.CALL)
    for place in places:
        called = subject.called(place.node)
        if called and subject.effects.reach(called).writes & behind:
            message = f"{called}() changes {attribute}, which is read at line {line} after this call"
            yield subject.hazard("U101", Severity.STOP, place.line, message, lazy)
            return
    held = next((use for use in parameter.uses if subject.lock_around(use.node)), None)
    if held is not None and (subject.writers(attribute) or attribute in subject.needs.written):
        lock = subject.lock_around(held.node)
        message = f"{attribute} is read under {lock}; the caller reads it before {lock} is taken"
        yield subject.hazard("U101", Severity.STOP, held.node.lineno, message, lazy)
        return
    kind = subject.accessor(attribute)
    if kind and not subject.is_pure(attribute) and not _is_first(subject, parameter, places):
        message = f"{attribute} is {kind}: it runs once, at the call, instead of where the body read it"
        yield subject.hazard("U101", Severity.PROVE, line, message, lazy)
        return
    if attribute in subject.results.inward and not parameter.lookup[0]:
        places = [*places, *_before_it_is_kept(subject, attribute)]
    places = _with_recursion(subject, places)
    found = _may_change(subject, attribute, places) or _leaf_may_change(subject, parameter, places)
    if found is not None:
        yield subject.hazard("U101", Severity.PROVE, found[0], found[1], lazy)


def reads_after_write(subject: Subject, key: str, written: set[str] | frozenset[str]) -> bool:
    """Whether some path leads from a write of one of these to a read of the variable."""
    flow = subject.flow
    writes = [point for point in flow.points if point.kind is Kind.WRITE and point.key in written]
    reached = flow.forward(((after, 1) for point in writes for after in point.after), lambda _, mask: mask)
    return any(point.number in reached for point in flow.points if point.kind is Kind.READ and point.key == key)


def _before_it_is_kept(subject: Subject, attribute: str) -> list[Place]:
    """Where other code may run on a path that never writes the attribute: its old value is handed back at the end."""
    flow = subject.flow
    bit = flow.bit.get(attribute, 0)
    untouched = {number for number, mask in flow.unwritten.items() if mask & bit}
    before: dict[int, list[Point]] = {}
    for point in flow.points:
        for successor in (*point.after, *point.on_error):
            before.setdefault(successor.number, []).append(point)
    work = [point for point in flow.points if point.kind in (Kind.END, Kind.RETURN) and point.number in untouched]
    seen: dict[int, Point] = {}
    while work:
        point = work.pop()
        if point.number in untouched and point.number not in seen:
            seen[point.number] = point
            work += before.get(point.number, [])
    risky = (point for point in seen.values() if point.risk is Risk.CALL and not point.late)
    found = {id(point.node): Place(point.node, point.node.lineno, point.risk) for point in risky}  # type: ignore[attr-defined]
    return sorted(found.values(), key=lambda place: place.line)


def _with_recursion(subject: Subject, places: list[Place]) -> list[Place]:
    """A call of the method itself runs all that the method does: every place of its body counts then."""
    if not any(subject.called(place.node) == subject.function.name for place in places):
        return places
    known = {place.node for place in places}
    whole = flow_places(
        (point for point in subject.flow.points if not point.late and point.risk is Risk.CALL), Risk.CALL
    )
    return [*places, *(each for each in whole if each.node not in known)]


def _is_first(subject: Subject, parameter: Parameter, places: list[Place]) -> bool:
    """Read at one place, once, before anything else happens: the moment stays the same."""
    reads = [event for event in subject.flow.events if event.kind is Kind.READ and event.key == parameter.key]
    once = len(reads) == 1 or subject.is_cached(parameter.attribute)
    return once and not places and not any(event.late or _is_repeated(subject, event) for event in reads)


def _is_repeated(subject: Subject, event: Event) -> bool:
    loops = (ast.For, ast.AsyncFor, ast.While, ast.ListComp, ast.SetComp, ast.DictComp, ast.GeneratorExp)
    return any(isinstance(above, loops) for above in subject.source.ancestors(event.node))


def _may_change(subject: Subject, attribute: str, places: list[Place]) -> tuple[int, str] | None:
    """A place before a read where code may run that assigns the attribute."""
    line = next(use.node.lineno for use in subject.needs.uses if use.attribute == attribute)
    inner = _called_inside(subject, attribute) if places else None
    if inner is not None:
        message = (
            f"{inner.attribute}() changes {attribute}, which is read once, at the call; it may run before line {line}"
        )
        return inner.node.lineno, message
    aliased = _written_elsewhere(subject, attribute)
    if aliased:
        return (
            aliased,
            f"{attribute} is read once, at the call; this line assigns .{attribute} of what may be the object",
        )
    if places and not _is_bound(subject, attribute) and dynamic_lookup(subject.files, subject.key):
        return line, f"{attribute} is looked up by code of the class, at the call instead of at this line"
    for place in places:
        called = subject.called(place.node)
        if called in subject.effects.own and _writes_by_name(subject, called):
            return place.line, f"{called}() assigns attributes by name; {attribute} is read at line {line} after it"
    reaching = [place for place in places if _reaches_object(subject, place.node)]
    if reaching:
        writers = subject.writers(attribute)
        if writers or any(subject.is_set_outside(each) for each in subject.behind(attribute)):
            who = f"{', '.join(writers[:3])} may change it" if writers else "other code assigns it"
            return reaching[0].line, f"{attribute} is read once, at the call; {who} before line {line} does"
    for place in places:
        # other code has no way to the object but through globals: only what is called here is looked at
        home = _function_called(subject, place.node)
        if home is not None and subject.is_set_in(home.module, subject.behind(attribute)):
            return place.line, f"{attribute} is read once, at the call; {home} may assign it before line {line} does"
    return None


def _called_inside(subject: Subject, attribute: str) -> Use | None:
    """A method that changes the attribute, called by a function that is made here: whatever calls that may run it."""
    inside = {point.node for point in subject.flow.points if point.late and point.risk is Risk.CALL}
    return next(
        (
            use
            for use in subject.needs.uses
            if use.is_called
            and subject.source.parents.get(use.node) in inside
            and subject.effects.reach(use.attribute).writes & subject.behind(attribute)
        ),
        None,
    )


def _written_elsewhere(subject: Subject, attribute: str) -> int:
    """Line where the body assigns an attribute of this name to something else, which may be the same object; else 0."""
    own = {use.node for use in subject.needs.uses}
    for node in ast.walk(subject.function):
        is_write = isinstance(node, ast.Attribute) and isinstance(node.ctx, (ast.Store, ast.Del))
        if is_write and node.attr == attribute and node not in own:  # type: ignore[attr-defined]
            found = receiver_type(subject.files, subject.source, node.value)  # type: ignore[attr-defined]
            if not isinstance(found, NotIn):
                return int(node.lineno)  # type: ignore[attr-defined]
    return 0


def _is_bound(subject: Subject, attribute: str) -> bool:
    """Whether the class, or a method of it, gives the attribute a value."""
    return subject.member(attribute) is not None or any(
        attribute in each.writes for each in subject.effects.own.values()
    )


def _writes_by_name(subject: Subject, method: str) -> bool:
    """Whether the method, or one it calls, goes through `__dict__` or hands the object to `setattr` or anybody else."""
    reached = subject.effects.reach(method)
    return reached.is_open or "__dict__" in reached.reads


def _is_given(subject: Subject, node: ast.AST) -> bool:
    """A parameter that is called, or iterated: it runs code of whoever gave it."""
    arguments = subject.function.args
    given = {each.arg for each in (*arguments.posonlyargs, *arguments.args, *arguments.kwonlyargs)}
    named = node.func if isinstance(node, ast.Call) else node
    return isinstance(named, ast.Name) and named.id in given


def _function_called(subject: Subject, node: ast.AST) -> Origin | None:
    """The function of the tree that is called by its name."""
    if not isinstance(node, ast.Call):
        return None
    home = resolve_dotted(subject.files, subject.source, node.func, scope_at(subject.source, node.func))
    is_ours = home is not None and home.name and modules_of(subject.files).path_of(home.module) is not None
    return home if is_ours else None


def _reaches_object(subject: Subject, node: ast.AST) -> bool:
    """Whether running `node` may come back to this object: suspending or waiting lets others run, an attribute that is
    called may be a callback, and a method may hand the object on. Nothing else has a way to it but through globals."""
    waits = isinstance(node, ast.Call) and getattr(node.func, "attr", "") in _WAITS
    if isinstance(node, _SUSPENDS) or waits or _is_given(subject, node):
        return True
    called = subject.called(node)
    return bool(called) and (called not in subject.effects.own or subject.effects.reach(called).is_open)


def _runs_our_code(subject: Subject, node: ast.AST) -> bool:
    """Whether the call runs code of the tree, or of an object that may be anything."""
    if not isinstance(node, ast.Call):
        return False
    func = node.func
    if isinstance(func, ast.Attribute) and func.attr in _QUIET:
        return False
    scope = scope_at(subject.source, func)
    home = resolve_dotted(subject.files, subject.source, func, scope)
    if home is not None:
        return modules_of(subject.files).path_of(home.module) is not None
    if isinstance(func, ast.Attribute):
        return not isinstance(receiver_type(subject.files, subject.source, func.value), NotIn)
    return False


def _leaf_may_change(subject: Subject, parameter: Parameter, places: list[Place]) -> tuple[int, str] | None:
    """The leaf of a chain belongs to another object, whose assignments are looked for by name."""
    leaf = parameter.path.rpartition(".")[2]
    if "." not in parameter.path or not subject.is_set_outside(leaf):
        return None
    risky = [place for place in places if not _is_foreign(subject, place.node)]
    if not risky:
        return None
    return risky[0].line, f"{parameter.path} is read once, at the call; other code assigns .{leaf}"


def _is_foreign(subject: Subject, node: ast.AST) -> bool:
    return not (_runs_our_code(subject, node) or _reaches_object(subject, node) or subject.called(node))


# -- U102


def _early(subject: Subject, parameter: Parameter) -> Iterator[Hazard]:
    """Read on some paths, or after other things; now on all paths and before them."""
    attribute = parameter.attribute
    if parameter.how in (How.LAZY, How.OPTIONAL) or subject.is_method(attribute):
        return
    line = parameter.uses[0].node.lineno
    settle = f'lazy = ["{parameter.path}"] reads it only there'
    if not parameter.lookup[0]:
        settle += f'; optional = ["{attribute}"] passes None when it is missing'
    kind = subject.accessor(attribute)
    on_every_path = parameter.key in subject.flow.read_on_every_path and parameter.key not in subject.flow.guarded_reads
    if kind and not subject.is_pure(attribute) and not on_every_path:
        message = f"{attribute} is {kind} and was evaluated on some paths only"
        yield subject.hazard("U102", Severity.PROVE, line, message, settle)
        return
    if parameter.lookup[0] and parameter.key != attribute:
        return  # a lookup that can't fail
    there = subject.presence(attribute)
    if there is not Presence.SURE:
        yield from _missing(subject, parameter, there, settle, on_every_path=on_every_path)
    elif on_every_path:
        return
    elif "." in parameter.path:
        message = f"{parameter.path} was read on some paths only; {attribute} may be None on the others"
        yield subject.hazard("U102", Severity.PROVE, line, message, settle)
    elif subject.hook("__getattribute__"):
        message = f"{attribute} was read on some paths only, and {subject.hook('__getattribute__')} runs for every read"
        yield subject.hazard("U102", Severity.PROVE, line, message, settle)


def _missing(
    subject: Subject, parameter: Parameter, there: Presence, settle: str, *, on_every_path: bool
) -> Iterator[Hazard]:
    attribute = parameter.attribute
    reads = [use for use in parameter.uses if use.kind is not UseKind.ANNOTATION]
    line = reads[0].node.lineno
    if not on_every_path:
        severity = Severity.STOP if there is Presence.UNSURE else Severity.PROVE
        message = f"{attribute} is read on some paths only and {subject.lacking(attribute)} when the method is called"
        yield subject.hazard("U102", severity, line, message, settle)
    elif there is Presence.UNSURE and _shows_when_missing(subject, parameter):
        message = (
            f"{attribute} {subject.lacking(attribute)}: that error would now come before what the method does first"
        )
        yield subject.hazard("U102", Severity.PROVE, line, message, settle)


def _shows_when_missing(subject: Subject, parameter: Parameter) -> bool:
    """Whether something else may run, or fail, before the read, or in a `finally` that its error passes.

    Other reads of the object don't count: they move to the call as well."""
    moved = {use.node for use in subject.needs.uses}
    places = [
        *subject.flow.risks_before_read(parameter.key, Risk.NAME),
        *risks_after_failed_read(subject.flow, parameter.key),
    ]
    return any(place.node not in moved and may_raise(subject, place) for place in places)
