"""inline-method: a thin forwarder's expression is put at each of its calls, and the forwarder is removed.

Takes a method, a module-level function, or a local that is assigned once (inline_variable.py). Refuses whatever is not
a call that it can see, and whatever would be evaluated another number of times or in another order."""

from __future__ import annotations

import ast

from codemods.schema.hazards import Hazard, Refusal, Severity
from codemods.schema.plan import InlineMethod
from codemods.schema.refs import DefRef
from codemods.schema.result import Finding, Phase
from codemods.source.binder import table
from codemods.source.callsites import CallSite, SiteKind, call_sites, node_at
from codemods.source.files import FileSet
from codemods.source.imports import Import, Origin, imports_of, origin
from codemods.source.kept_text import keep_printed
from codemods.source.locate import Located, find, head_start, tail_end
from codemods.source.modules import modules_of
from codemods.source.parse import FUNCTIONS, Source, load
from codemods.source.receivers import scope_at
from codemods.source.splice import Edit, apply_edits
from codemods.transforms.drop_imports import drop_unused, removal
from codemods.transforms.inline_body import Forwarder, forwarder_of
from codemods.transforms.inline_call import Argument, Bound, CannotBind, bind, is_literal
from codemods.transforms.inline_comments import above_call, left_out
from codemods.transforms.inline_names import Names, role_names
from codemods.transforms.inline_order import Event, Steps, Weight, troubles, weight_of
from codemods.transforms.inline_text import Rendering, covered
from codemods.transforms.inline_variable import owning_function, plan_variable
from codemods.transforms.move_text import cut
from codemods.transforms.remove_middle_man import dispatch_hazards, named_by_text
from codemods.transforms.rename_report import hazard, refusal, shortened
from codemods.transforms.transform import Planned, Transform, Words, refused

_UNCALLED = {
    SiteKind.DECORATOR: ("U112", "is used as a decorator here"),
    SiteKind.ASSIGNMENT: ("U111", "is replaced here"),
    SiteKind.DELETION: ("U111", "is deleted here"),
    SiteKind.ACCESS: ("U112", "is read here without a call"),
}


def plan(files: FileSet, step: InlineMethod) -> Planned:
    """The plan of the step. Raises what `locate.find` raises, and Unparsable."""
    ref = DefRef.parse(step.method)
    local = owning_function(files, ref)
    if local is not None:
        return plan_variable(files, *local, ref.name)
    located = find(files, ref)
    forwarder = forwarder_of(files, located)
    if isinstance(forwarder, list):
        return refused(*forwarder)
    return _Inlining(files, located, forwarder).run()


class _Inlining:
    """One forwarder, from its call sites to the new files."""

    def __init__(self, files: FileSet, located: Located, forwarder: Forwarder) -> None:
        self.files, self.located, self.forwarder = files, located, forwarder
        self.name = located.ref.name
        self.names = Names(files, forwarder)
        self.hazards: list[Hazard] = []
        self.refusals: list[Refusal] = []
        self.findings: list[Finding] = []
        self.edits: dict[str, list[Edit]] = {}
        self.importing: dict[str, None] = {}
        self.is_only_call = False
        self.touched: dict[str, set[str]] = {}
        parameters = [forwarder.receiver, *(each.name for each in forwarder.parameters)]
        steps = Steps(forwarder.source, forwarder.scope, frozenset(parameters) - {""})
        self.events: list[Event] = list(steps.of(forwarder.expression))

    def run(self) -> Planned:
        self.hazards.extend(dispatch_hazards(self.files, self.located))
        by_text, promised = named_by_text(self.files, self.located)
        self.hazards.extend(by_text)
        self.refusals.extend(promised)
        sites = call_sites(self.files, self.located.ref)
        self.is_only_call = sum(site.is_call for site in sites.sites) == 1
        for site in sorted(sites.sites, key=lambda each: each.end - each.start):  # calls in arguments come first
            self._site(site)
        self.refusals.extend(self.names.refusals)
        self.hazards.extend(self.names.hazards)
        if self.refusals:
            return refused(*dict.fromkeys(self.refusals), hazards=tuple(shortened(self.hazards)))
        self._remove()
        files, dropped = self._tidied(self._without_imports(self._written()))
        calls = sum(site.is_call and site.is_sure for site in sites.sites)
        self.findings.append(Finding(topic="calls", text=f"{calls} calls of {self.name} inlined"))
        return Planned(files=files, hazards=tuple(shortened([*self.hazards, *dropped])), findings=tuple(self.findings))

    # -- one place

    def _site(self, site: CallSite) -> None:
        if not site.is_sure:
            message = f"this may be {self.located.ref.qualname}: {site.reason}"
            settle = "give the receiver a type, or accept U115 when it is something else"
            self.hazards.append(hazard("U115", Severity.STOP, site.path, site.line, message, settle))
        elif site.kind is SiteKind.IMPORT:
            self.importing[site.path] = None
        elif not site.is_call or site.kind is SiteKind.DECORATOR:
            code, what = _UNCALLED.get(site.kind, ("U118", "is passed on here without a call"))
            self._refuse(code, site, f"{self.name} {what}", "write a call, or leave the method")
        elif site.kind is SiteKind.SUPER_CALL:
            self._refuse("U104", site, f"{self.name} is called through super()", "leave the method")
        else:
            self._call(site)

    def _refuse(self, code: str, site: CallSite, message: str, settle: str) -> None:
        self.refusals.append(refusal(code, site.path, site.line, message, settle))

    def _call(self, site: CallSite) -> None:
        source = load(self.files, site.path)
        call = node_at(source, site)
        assert isinstance(call, ast.Call)
        if self._is_inside_itself(source, call):
            self._refuse("recursive", site, f"{self.name} calls itself", "leave it as it is")
            return
        if self.forwarder.is_statement and not isinstance(source.parents[call], ast.Expr):
            what = f"{self.name} gives None, which is used here"
            self._refuse("U117", site, what, "write the call as a statement of its own first")
            return
        receiver = self._receiver(site, call)
        if receiver is not None and self.forwarder.binds_class and self._takes_instance(site):
            what = f"{self.forwarder.receiver} is the class of whatever the receiver is"
            self._refuse("U107", site, what, "call it on the class first")
            return
        try:
            bound = bind(source, call, self.forwarder, receiver if self.forwarder.receiver else None)
        except CannotBind as problem:
            self._refuse(problem.code, site, problem.message, "write the arguments out at this call first")
            return
        self._order(site, source, call, receiver, bound)
        self._captures(site, bound)
        self._write(site, source, call, bound)

    def _is_inside_itself(self, source: Source, call: ast.Call) -> bool:
        if source.path != self.located.path:
            return False
        own = self.forwarder.function
        return self.forwarder.source.start(own) <= source.start(call) <= self.forwarder.source.end(own)

    def _receiver(self, site: CallSite, call: ast.Call) -> ast.expr | None:
        """What the method is called on; None for a function, and where the object is the first argument."""
        if self.located.owner is None or not isinstance(call.func, ast.Attribute):
            return None
        is_first_argument = site.kind is SiteKind.CLASS_CALL and not self.forwarder.binds_class
        return None if is_first_argument and self.forwarder.receiver else call.func.value

    def _takes_instance(self, site: CallSite) -> bool:
        is_used = bool(self.forwarder.uses(self.forwarder.receiver))
        return is_used and site.kind in (SiteKind.SELF_CALL, SiteKind.INSTANCE_CALL)

    def _order(self, site: CallSite, source: Source, call: ast.Call, receiver: ast.expr | None, bound: Bound) -> None:
        scope = scope_at(source, call)
        given: list[tuple[str, str, Weight]] = []
        if receiver is not None and not self.forwarder.receiver:
            given.append(("", ast.unparse(receiver), weight_of(source, receiver, scope)))
        for name, argument in bound.given:
            text = source.body[argument.start : argument.end].decode()
            given.append((name, text, weight_of(source, argument.node, scope)))
            if any(isinstance(each, ast.NamedExpr) for each in ast.walk(argument.node)):
                what = f"{text} binds a name on the way"
                self._refuse("U101", site, what, "assign it before the call first")
        constants = frozenset(name for name, each in bound.given if is_literal(each.node))
        events = [event for event in self.events if event.name or event.weight is not Weight.PURE]
        for each in troubles(given, events, constants):
            severity = Severity.PROVE if each.is_mild else Severity.STOP
            settle = f"bind it to a local before the call, or say in accept.{each.code} why it does not matter"
            self.hazards.append(hazard(each.code, severity, site.path, site.line, each.message, settle))

    def _captures(self, site: CallSite, bound: Bound) -> None:
        """A name of an argument must not be caught by a comprehension or lambda of the body."""
        scopes = table(self.forwarder.source)
        start, end = (at(self.forwarder.expression) for at in (self.forwarder.source.start, self.forwarder.source.end))
        for name in dict.fromkeys(name for name, _ in bound.given):
            free = {each.id for arg in bound.of(name) for each in ast.walk(arg.node) if isinstance(each, ast.Name)}
            for occurrence in scopes.between(start, end):
                inner = occurrence.scope
                while occurrence.name == name and inner is not self.forwarder.scope and inner.parent is not None:
                    for taken in sorted(free & set(inner.bound)):
                        what = f"{taken} would mean the {taken} of the body's {inner.kind.value}"
                        self._refuse("U107", site, what, "rename it in the body first")
                    inner = inner.parent

    def _write(self, site: CallSite, source: Source, call: ast.Call, bound: Bound) -> None:
        done = self.edits.setdefault(site.path, [])
        names = self.names.at(source, call)
        if self.names.refusals or not self._fits_strings(site, source, call, bound):
            return
        rendering = Rendering(
            self.forwarder, source, call, bound, done=done, names=names, line_length=self.files.line_length
        )
        inlined = rendering.inlined()
        kept = keep_printed(source, [(source.start(call), source.end(call))])
        is_in_string = any(isinstance(above, ast.JoinedStr) for above in source.ancestors(call))
        written = b"".join(edit.text for edit in inlined.edits)
        if kept.unkept or (is_in_string and any(mark in written for mark in (b'"', b"'", b"\\", b"\n", b"#"))):
            self._refuse("f-string", site, "the expression can't stand in this f-string", "bind the value first")
            return
        fresh = [*inlined.edits, *kept.edits]
        self.edits[site.path] = [*(edit for edit in done if not covered(edit, fresh)), *fresh]
        self.touched.setdefault(site.path, set()).update(role_names(source, source.start(call), source.end(call.func)))
        if self.is_only_call:
            self.edits[site.path].extend(above_call(self.forwarder, source, call))
        for comment in inlined.lost:
            text = f"a comment in this call has no place any more: {comment}"
            self.findings.append(Finding(topic="comments", text=text, path=site.path, line=site.line))

    def _fits_strings(self, site: CallSite, source: Source, call: ast.Call, bound: Bound) -> bool:
        """Whether arguments may stand in the f-strings of the body."""
        body = self.forwarder.source
        for name, each in (*bound.given, *bound.defaults):
            text = self._text(source, each)
            for use in self.forwarder.uses(name):
                if not any(isinstance(above, ast.JoinedStr) for above in body.ancestors(use)):
                    continue
                span = body.start(use), body.end(use)
                kept = keep_printed(body, [span])
                is_changed = text != name.encode() and (kept.edits or kept.unkept)
                if is_changed or any(mark in text for mark in (b'"', b"'", b"\\", b"\n", b"#")):
                    what = f"{text.decode()} can't stand in the f-string of the body"
                    self._refuse("f-string", site, what, "bind the value to a local first")
                    return False
        return call.lineno > 0

    def _text(self, source: Source, each: Argument) -> bytes:
        return (self.forwarder.source if each.is_default else source).body[each.start : each.end]

    # -- files

    def _written(self) -> FileSet:
        files = self.files
        for path, edits in self.edits.items():
            source = load(self.files, path)
            body = apply_edits(source.body, [*edits, *self.names.edits(path)])
            files = files.write(path, source.text.encode(body))
        return files

    def _without_imports(self, files: FileSet) -> FileSet:
        """Nobody imports a function that is gone."""
        home = Origin(modules_of(self.files).module_of(self.located.path), self.name)
        for path in self.importing:
            source = load(files, path)
            going = [
                each
                for each in imports_of(files, source)
                if each.attribute == self.name and origin(self.files, each.module, each.attribute) == home
            ]
            edits, notes = removal(source, going)
            edits = [_with_blanks(source, going, edit) for edit in edits]
            self.hazards.extend(notes)
            if path.endswith("/__init__.py"):
                package = modules_of(files).module_of(path)
                message = f"{package}.{self.name} is gone for whoever imports it from outside this tree"
                settle = "say in the release notes that it is gone"
                line = going[0].statement.lineno if going else 0
                self.hazards.append(hazard("U119", Severity.NOTE, path, line, message, settle))
            files = files.write(path, source.text.encode(apply_edits(source.body, edits)))
        return files

    def _remove(self) -> None:
        """The definition goes with the comments that belong to it."""
        source, node = self.located.source, self.located.node
        start, end = head_start(source, node), tail_end(source, node)
        self.edits.setdefault(source.path, []).append(cut(source, start, end, node))
        self.touched.setdefault(source.path, set()).update(role_names(source, start, end))
        for comment in left_out(self.forwarder, is_carried=self.is_only_call):
            text = f"a comment goes with the definition: {comment}"
            self.findings.append(Finding(topic="comments", text=text, path=source.path, line=node.lineno))

    def _tidied(self, files: FileSet) -> tuple[FileSet, list[Hazard]]:
        """The files without imports that only the definition or its calls needed."""
        hazards: list[Hazard] = []
        for path, names in sorted(self.touched.items()):
            dropped = drop_unused(files, path, sorted(names))
            files = dropped.files
            hazards.extend(dropped.hazards)
        return files, hazards


def _with_blanks(source: Source, going: list[Import], edit: Edit) -> Edit:
    """Blank lines that held an import apart at the top of a function go with it."""
    is_first = any(
        isinstance(above := source.parents[each.statement], FUNCTIONS) and above.body[0] is each.statement
        for each in going
        if edit.start <= source.start(each.statement) < edit.end
    )
    end = edit.end
    while (
        is_first
        and not edit.text
        and end < len(source.body)
        and not source.text.line_text(source.text.line_of(end)).strip()
    ):
        end = source.text.line_end(end)
    return Edit(edit.start, end, edit.text)


def words(step: InlineMethod) -> Words:
    """The commit's words."""
    ref = DefRef.parse(step.method)
    return Words(
        f"Inline {ref.qualname}",
        f"Every call of {ref.qualname} of {ref.module} is replaced by what it does, and {ref.name} is removed. "
        "Nothing else changes.",
    )


TRANSFORM = Transform(name="inline-method", phase=Phase.POST, args=InlineMethod, plan=plan, words=words)
