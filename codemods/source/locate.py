"""From a reference to the definition it names, and the span of text that belongs to a definition. Reads only."""

from __future__ import annotations

import ast
import difflib
import re

from msgspec import Struct

from codemods.schema.errors import PlanError
from codemods.schema.refs import DefRef
from codemods.source.files import FileSet
from codemods.source.modules import modules_of
from codemods.source.parse import DEFINITIONS, FUNCTIONS, Definition, Function, Source, load

_STEERS = re.compile(rb"#!|#.*?coding[:=]")
_HEADER = re.compile(
    rb"#[-\s*]*(copyright|\(c\)|licen[cs]e|spdx|type: *ignore|mypy:|pyright:|flake8|ruff|pylint|isort|vim?:)",
    re.IGNORECASE,
)


class UnknownModule(PlanError):
    """A module that is not in the tree."""

    code = "unknown-module"


class UnknownDefinition(PlanError):
    """A module has no such definition."""

    code = "unknown-definition"


class AmbiguousDefinition(PlanError):
    """A name is defined more than once in one scope."""

    code = "ambiguous-definition"


class Located(Struct, frozen=True, eq=False):
    """A definition found: its file, its node, and the class around it (None at module level)."""

    source: Source
    node: Definition | ast.Assign | ast.AnnAssign
    owner: ast.ClassDef | None
    ref: DefRef

    @property
    def path(self) -> str:
        return self.source.path

    @property
    def function(self) -> Function:
        """The node, where the caller has checked that it is a function."""
        if not isinstance(self.node, FUNCTIONS):
            raise UnknownDefinition(
                f"{self.ref} is not a function or method", path=self.path, line=self.node.lineno, fix="name a function"
            )
        return self.node


def module_path(files: FileSet, module: str) -> str:
    """The file of a module. Raises UnknownModule with the nearest names."""
    modules = modules_of(files)
    path = modules.path_of(module)
    if path is None:
        leaf = module.rpartition(".")[2] if not module.endswith(".py") else module
        known = {modules.module_of(other) for other in files.paths() if other.endswith(".py")}
        near = [name for name in sorted(known) if name.rpartition(".")[2] == leaf]
        near = near[:3] or difflib.get_close_matches(module, sorted(known), n=3)
        hint = f"did you mean {', '.join(near)}?" if near else "name a module under --root, or set source-roots"
        raise UnknownModule(f"there is no module {module!r} in the tree", fix=hint)
    return path


def find(files: FileSet, ref: DefRef) -> Located:
    """The definition (function, class, method, constant) a reference names.

    Raises UnknownModule, UnknownDefinition, AmbiguousDefinition, Unparsable."""
    source = load(files, module_path(files, ref.module))
    return find_in(source, ref)


def find_in(source: Source, ref: DefRef) -> Located:
    """As `find`, in a file at hand."""
    owner: ast.ClassDef | None = None
    statements: list[ast.stmt] = source.tree.body
    *outer, name = ref.qualname.split(".")
    for part in outer:
        found = _named(statements, part)
        nested = [node for node in found if isinstance(node, ast.ClassDef)]
        if not nested:
            raise _unknown(source, ref, part, statements)
        owner = _only(source, ref, nested)  # type: ignore[assignment]
        assert isinstance(owner, ast.ClassDef)
        statements = owner.body
    found = _named(statements, name)
    if not found:
        raise _unknown(source, ref, name, statements)
    return Located(source=source, node=_only(source, ref, found), owner=owner, ref=ref)


def find_method(files: FileSet, ref: DefRef) -> Located:
    """As `find`; of a property with a setter or deleter it is the getter."""
    try:
        return find(files, ref)
    except AmbiguousDefinition:
        around = find(files, DefRef(ref.module, ref.owner)) if ref.owner else None
        if around is None or not isinstance(around.node, ast.ClassDef):
            raise
        found = [node for node in _named(around.node.body, ref.name) if not _is_other_accessor(node, ref.name)]
        if len(found) != 1:
            raise
        return Located(source=around.source, node=found[0], owner=around.node, ref=ref)


def _is_other_accessor(node: ast.stmt, name: str) -> bool:
    """`@name.setter` or `@name.deleter` stands above it."""
    leaves = ("setter", "deleter")
    return any(
        isinstance(each, ast.Attribute) and each.attr in leaves and getattr(each.value, "id", "") == name
        for each in getattr(node, "decorator_list", ())
    )


def _named(statements: list[ast.stmt], name: str) -> list[Definition | ast.Assign | ast.AnnAssign]:
    found: list[Definition | ast.Assign | ast.AnnAssign] = []
    for statement in flattened(statements):
        if isinstance(statement, DEFINITIONS):
            found.extend([statement] if statement.name == name else [])
        elif isinstance(statement, ast.AnnAssign):
            found.extend([statement] if getattr(statement.target, "id", None) == name else [])
        elif isinstance(statement, ast.Assign):
            targets = [target for target in statement.targets if isinstance(target, ast.Name)]
            if any(target.id == name for target in targets):
                found.append(statement)
    return found


def flattened(statements: list[ast.stmt]) -> list[ast.stmt]:
    """Statements of one scope, with those inside its if, try, with, for and while blocks."""
    found: list[ast.stmt] = []
    for statement in statements:
        found.append(statement)
        if isinstance(statement, DEFINITIONS):
            continue
        for block in ("body", "orelse", "finalbody"):
            found.extend(flattened(getattr(statement, block, [])))
        for handler in getattr(statement, "handlers", []):
            found.extend(flattened(handler.body))
        for case in getattr(statement, "cases", []):
            found.extend(flattened(case.body))
    return found


def _only(
    source: Source, ref: DefRef, found: list[Definition | ast.Assign | ast.AnnAssign] | list[ast.ClassDef]
) -> Definition | ast.Assign | ast.AnnAssign:
    if len(found) > 1:
        lines = ", ".join(str(node.lineno) for node in found)
        raise AmbiguousDefinition(
            f"{ref} has {len(found)} definitions (lines {lines})",
            path=source.path,
            line=found[0].lineno,
            fix="leave one of them, or give them different names first",
        )
    return found[0]


def _unknown(source: Source, ref: DefRef, name: str, statements: list[ast.stmt]) -> UnknownDefinition:
    names = [statement.name for statement in flattened(statements) if isinstance(statement, DEFINITIONS)]
    near = difflib.get_close_matches(name, names, n=3) or names[:3]
    elsewhere = [
        f"{node.name}.{inner.name}"
        for node in source.tree.body
        if isinstance(node, ast.ClassDef)
        for inner in node.body
        if isinstance(inner, FUNCTIONS) and inner.name == name
    ]
    hint = ", ".join(elsewhere[:3] or near)
    return UnknownDefinition(
        f"{source.path} has no {ref.qualname!r} (no {name!r} there)",
        path=source.path,
        fix=f"did you mean {hint}?" if hint else "name a definition that is in the file",
    )


def head_start(source: Source, node: ast.stmt) -> int:
    """Offset of the first line that belongs to a definition: decorators and the comments directly above it."""
    decorators = getattr(node, "decorator_list", [])
    first = min([source.start(node), *(source.start(decorator) - 1 for decorator in decorators)])
    text = source.text
    indent = text.indent_at(first)
    start = _above_joined(source, text.line_start(first))
    floor = header_end(source)
    while start > floor:
        above = text.line_start(start - 1)
        is_own_comment = source.body[above:start].startswith(indent + b"#")
        continues = source.body[:above].rstrip(b"\r\n").endswith(b"\\")
        if not is_own_comment or continues:
            break
        start = above
    return start


def header_end(source: Source) -> int:
    """Offset after the comments that belong to the file as a whole: shebang, encoding, licence, pragmas.

    A block of comments at the top is that when a blank line ends it or when it says so; else the first statement's."""
    text, at, steering = source.text, 0, 0
    says_so = False
    for number, start in enumerate(text.line_starts, 1):
        line = text.line_text(number)
        if not line.startswith(b"#"):
            break
        at = text.line_end(start)
        steering = at if steering == start and number <= 2 and _STEERS.match(line) else steering
        says_so = says_so or (not _STEERS.match(line) and bool(_HEADER.match(line)))
    rest = source.body[at:]
    is_apart = not rest or rest.lstrip(b" \t\x0c").startswith((b"\n", b"\r"))
    return at if says_so or is_apart else steering


def tail_end(source: Source, node: ast.stmt) -> int:
    """Offset after the newline that ends a definition (with the comment that shares its last line).

    A backslash behind the last token joins the next physical line to this logical one: it belongs here too."""
    at = source.end(node)
    end = source.text.line_end(max(source.start(node), at - 1))
    while end < len(source.body) and _is_joined(source.body[at:end]):
        at, end = end, source.text.line_end(end)
    return _comments_inside(source, node, end) if isinstance(node, DEFINITIONS) else end


def _comments_inside(source: Source, node: Definition, end: int) -> int:
    """Comments under the last statement that are indented like the body belong to it too."""
    indent = source.text.indent_at(source.start(node))
    at = end
    while at < len(source.body):
        after = source.text.line_end(at)
        line = source.body[at:after]
        blanks = source.text.indent_at(at)
        if line.strip():
            if not line.lstrip().startswith(b"#") or not blanks.startswith(indent) or len(blanks) == len(indent):
                break
            end = after
        at = after
    return end


def _is_joined(tail: bytes) -> bool:
    """Whether a line whose rest this is goes on in the next one."""
    return tail.rstrip(b"\r\n").endswith(b"\\") and b"#" not in tail


def _above_joined(source: Source, start: int) -> int:
    """Lines that hold only a backslash belong to the statement below them."""
    while start > 0:
        above = source.text.line_start(start - 1)
        if source.body[above:start].strip() != b"\\":
            break
        start = above
    return start


def shares_line(source: Source, node: ast.stmt) -> bool:
    """Whether another statement stands on one of the physical lines of this one (`a = 1; b = 2`, `if x: a = 1`)."""
    text, body = source.text, source.body
    decorators = getattr(node, "decorator_list", [])
    first = min([source.start(node), *(source.start(decorator) - 1 for decorator in decorators)])
    start = _above_joined(source, text.line_start(first))
    if body[text.line_start(first) : first].strip() or body[:start].rstrip(b"\r\n").endswith(b"\\"):
        return True
    tail = body[source.end(node) : text.line_end(max(first, source.end(node) - 1))]
    return not re.match(rb"[ \t\x0c]*(;[ \t\x0c]*)?(#|\\?[\r\n]|\Z)", tail)


def is_main_guard(statement: ast.stmt) -> bool:
    """`if __name__ == "__main__":`."""
    return isinstance(statement, ast.If) and "__name__" in ast.unparse(statement.test)
