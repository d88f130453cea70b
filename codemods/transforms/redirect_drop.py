"""What becomes of the attribute itself when its readers go elsewhere: declarations, properties, assignments.

With `drop` they are taken out, where nothing is lost by that; a property other than a plain forwarder is refused."""

from __future__ import annotations

import ast
from collections.abc import Iterator

from codemods.schema.hazards import Hazard, Refusal, Severity
from codemods.source.attribute_sites import Access, AttributeSite
from codemods.source.binder import table
from codemods.source.class_names import qualname_of
from codemods.source.classes import ClassKey, class_at
from codemods.source.files import FileSet
from codemods.source.locate import head_start, tail_end
from codemods.source.members import Member, MemberKind, assignments_in, members
from codemods.source.modules import modules_of
from codemods.source.parse import FUNCTIONS, Source
from codemods.source.receivers import scope_at
from codemods.source.scopes import Role, ScopeKind, chain
from codemods.source.splice import Edit
from codemods.transforms.move_text import cut
from codemods.transforms.redirect_via import Via, forwards
from codemods.transforms.rename_fields import is_constructor_field
from codemods.transforms.rename_report import Edits, hazard, refusal

_CODE = frozenset(
    {MemberKind.METHOD, MemberKind.STATIC, MemberKind.CLASS_METHOD, MemberKind.DECORATED, MemberKind.CLASS}
)


class Dropping:
    """Collects the statements that go; `remove` adds their edits."""

    def __init__(self, files: FileSet, via: Via, old: str, *, is_wanted: bool) -> None:
        self.files, self.via, self.old, self.is_wanted = files, via, old, is_wanted
        self.hazards: list[Hazard] = []
        self._going: list[tuple[Source, ast.stmt]] = []
        self.leaves_writes = False  # some assignment is not dropped, but goes to the other object
        self._is_property = False
        self._parts: list[tuple[Source, int, int]] = []

    # -- what stands in class bodies

    def problems(self) -> Iterator[Refusal]:
        for owner in self.via.owners:
            located = class_at(self.files, owner)
            member = members(self.files, *located).get(self.old) if located is not None else None
            if located is None or member is None:
                continue
            source, node = located
            line = member.node.lineno
            if member.kind in _CODE:
                message = f"{self.old} is a {member.kind.value} of {owner.name}, not an attribute that holds a value"
                yield refusal("U112", source.path, line, message, "redirect attributes only")
            elif member.kind is MemberKind.ACCESSOR and not forwards(self.files, owner, self.old, self.via.text):
                message = f"reading {self.old} of {owner.name} runs code that does more than read {self.via.text}"
                yield refusal("U112", source.path, line, message, f"make it return self.{self.via.text} first")
            elif is_constructor_field(self.files, owner, self.old):
                message = f"{self.old} is a field of {owner.name}, so its constructor takes it"
                yield refusal("U121", source.path, line, message, "change the constructor first")
            reads = [each for each in table(source).scope_of(node).occurrences if each.name == self.old]
            if member.kind is not MemberKind.ACCESSOR and any(each.role is Role.LOAD for each in reads):
                message = f"the body of {owner.name} reads {self.old} where there is no object yet"
                yield refusal("U102", source.path, node.lineno, message, "give that value a name of its own first")
            elif member.kind is MemberKind.ATTRIBUTE:
                self._class_value(source, node, owner, member)
            self._is_property = self._is_property or member.kind is MemberKind.ACCESSOR
            if self.is_wanted:
                self._declared(source, member)

    def _class_value(self, source: Source, node: ast.ClassDef, owner: ClassKey, member: Member) -> None:
        """A value in the class body is what objects have that nothing gave a value of their own."""
        own = assignments_in(source, node, owner, self.old)
        if any(each.method == "__init__" and each.is_unconditional for each in own):
            return
        message = f"objects without a {self.old} of their own read {self.via.text} instead of this value"
        settle = f"give {self.via.path} the same value, or prove with a twin run that nobody reads this one"
        self.hazards.append(hazard("U101", Severity.PROVE, source.path, member.node.lineno, message, settle))

    def _declared(self, source: Source, member: Member) -> None:
        if member.kind is not MemberKind.SLOT:
            self._going.extend((source, node) for node in member.nodes)

    # -- assignments

    def takes(self, site: AttributeSite) -> bool:
        """Whether the place is an assignment in the class that goes away; it is then not redirected."""
        if not self.is_wanted or self._is_property or site.access is not Access.WRITE or not self._is_own(site):
            return False
        source, node = site.source, site.node
        statement = source.statement_of(node)
        if isinstance(statement, ast.AnnAssign) and statement.target is node:
            self._judge(source, statement, statement.value)
            self._going.append((source, statement))
            return True
        if not isinstance(statement, ast.Assign) or node not in statement.targets:
            return False
        self._judge(source, statement, statement.value)
        if len(statement.targets) == 1:
            self._going.append((source, statement))
        else:
            place = statement.targets.index(node)
            after = statement.targets[place + 1] if place + 1 < len(statement.targets) else statement.value
            self._parts.append((source, source.start(node), source.start(after)))
        return True

    def _is_own(self, site: AttributeSite) -> bool:
        """`self.old = ...` in a method of one of the owners."""
        scope = scope_at(site.source, site.node)
        around = next((at for at in chain(scope) if at.kind is ScopeKind.CLASS), None)
        if around is None:
            return False
        key = ClassKey(modules_of(self.files).module_of(site.path), qualname_of(around))
        method = site.source.enclosing(site.node, *FUNCTIONS)
        arguments = getattr(method, "args", None)
        first = arguments.args[0].arg if arguments is not None and arguments.args else ""
        receiver = getattr(site.node, "value", None)
        return key in self.via.owners and isinstance(receiver, ast.Name) and receiver.id == first

    def _judge(self, source: Source, statement: ast.stmt, value: ast.expr | None) -> None:
        if value is None or self._is_same(value):
            return
        line = statement.lineno
        if not _is_pure(value):
            message = f"`{ast.unparse(value)}` is no longer evaluated here"
            settle = f"build {self.via.path} from it first, or accept U117"
            self.hazards.append(hazard("U117", Severity.STOP, source.path, line, message, settle))
        message = f"{self.via.text} is read instead of `{ast.unparse(value)}`, and nothing here says they are the same"
        settle = f"pass {self.via.leaf}={ast.unparse(value)} to the constructor of {self.via.path}, or prove it"
        self.hazards.append(hazard("U101", Severity.PROVE, source.path, line, message, settle))

    def _is_same(self, value: ast.expr) -> bool:
        """Whether the code shows that the other object has this very value."""
        text = ast.unparse(value)
        if text.partition(".")[2] == self.via.text:
            return True
        if self.via.path != self.via.head or not _is_pure(value):
            return False
        calls = [each.value for each in self.via.assignments if isinstance(each.value, ast.Call)]
        given = [keyword for call in calls for keyword in call.keywords if keyword.arg == self.via.leaf]
        return any(ast.unparse(keyword.value) == text for keyword in given)

    # -- out of the text

    def remove(self, edits: Edits) -> None:
        for source, start, end in self._parts:
            edits.add(source, [Edit(start, end, b"")])
        for source, statement in self._going:
            edits.forget(source.path, source.start(statement), source.end(statement))
        going = [node for _, node in self._going]
        by_path: dict[str, list[Edit]] = {}
        for source, statement in self._going:
            by_path.setdefault(source.path, []).append(_without(source, statement, going))
        for path, found in by_path.items():
            edits.add_to(path, _merged(found))


def _is_pure(node: ast.expr) -> bool:
    """Names, attributes and constants: leaving them out leaves nothing undone."""
    return all(isinstance(each, (ast.Name, ast.Attribute, ast.Constant, ast.expr_context)) for each in ast.walk(node))


def _without(source: Source, statement: ast.stmt, going: list[ast.stmt]) -> Edit:
    """The edit that takes a statement out; `pass` takes its place where its block would be empty."""
    text = source.text
    block = _block(source, statement)
    start, end = head_start(source, statement), tail_end(source, statement)
    first = source.start(statement)
    before = source.body[text.line_start(first) : first].strip()
    after = source.body[source.end(statement) : end].lstrip(b" \t")
    is_shared = bool(before) or after.startswith(b";")
    leaves_nothing = all(any(each is other for other in going) for each in block)
    if leaves_nothing and statement is block[-1]:
        return Edit(first, source.end(statement), b"pass")
    if is_shared:
        stop = source.end(statement)
        rest = source.body[stop:end]
        if rest.lstrip(b" \t").startswith(b";"):
            return Edit(first, stop + len(rest) - len(rest.lstrip(b" \t;")), b"")
        return Edit(first - (len(source.body[:first]) - len(source.body[:first].rstrip(b" \t;"))), stop, b"")
    return (
        cut(source, start, end, statement)
        if isinstance(statement, FUNCTIONS)
        else Edit(text.line_start(first), end, b"")
    )


def _merged(edits: list[Edit]) -> list[Edit]:
    """Neighbours may both take the blank lines between them."""
    kept: list[Edit] = []
    for edit in sorted(edits):
        if kept and edit.start < kept[-1].end and not edit.text and not kept[-1].text:
            edit = Edit(kept[-1].start, max(edit.end, kept[-1].end), b"")
            kept.pop()
        kept.append(edit)
    return kept


def _block(source: Source, statement: ast.stmt) -> list[ast.stmt]:
    above = source.parents[statement]
    for field in ("body", "orelse", "finalbody"):
        block = getattr(above, field, [])
        if isinstance(block, list) and any(each is statement for each in block):
            return block
    return [statement]
