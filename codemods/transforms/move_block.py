"""The text of one definition on its way: cut as bytes, its qualifier and `@staticmethod` gone, one indentation less.

Relative imports in it are written for the new place. What may differ besides is listed in `Changes`."""

from __future__ import annotations

import ast
import re
from collections.abc import Callable, Iterable, Mapping, Set

from msgspec import Struct

from codemods.schema.refs import DefRef
from codemods.source.binder import table
from codemods.source.files import FileSet
from codemods.source.imports import Import
from codemods.source.locate import Located, find, head_start, shares_line, tail_end
from codemods.source.parse import FUNCTIONS, Function, Source
from codemods.source.scopes import ScopeKind
from codemods.source.splice import Edit, apply_edits, indent_edits
from codemods.transforms.layout import parameter_brackets as brackets_of
from codemods.transforms.local_imports import line_above, local_edit

_FROM = re.compile(rb"from\b[\s\\]*(\.(?:[\s\\]*\.)*(?:[\s\\]*(?!import\b)\w[\w.]*)?|\w[\w.]*)[\s\\]*import\b")


class Piece(Struct, frozen=True, kw_only=True, eq=False):
    """A statement that moves, with its decorators and comments. is_carried: it only goes along."""

    ref: DefRef
    node: ast.stmt
    start: int
    end: int
    is_carried: bool

    @property
    def name(self) -> str:
        return self.ref.name

    @property
    def is_constant(self) -> bool:
        return isinstance(self.node, (ast.Assign, ast.AnnAssign))


class Changes(Struct, frozen=True, kw_only=True, eq=False):
    """What may differ in the text of a piece besides its indentation. own: `A.f` inside `f` itself, by the offset of
    `A`. renames: module-level names spelled otherwise there. local_lines: imports at the top of the body. placed:
    imports above statements of the body. modules: how relative imports in the body are written in the new file.
    types: type parameters of the class around that the function declares itself now. removed: imports in the body of
    what is at home in the new file."""

    own: Mapping[int, Edit] = {}
    renames: Mapping[str, str] = {}
    local_lines: tuple[str, ...] = ()
    placed: tuple[tuple[ast.stmt, str], ...] = ()
    modules: Mapping[ast.ImportFrom, str] = {}
    types: tuple[str, ...] = ()
    removed: tuple[ast.stmt, ...] = ()


def piece_of(located: Located, *, is_carried: bool) -> Piece:
    """The span of a located definition; a closing `# fmt: on` under it belongs to an opening one above it."""
    source = located.source
    start, end = head_start(source, located.node), tail_end(source, located.node)
    head = source.body[start : source.start(located.node)]
    following = source.body[end : source.text.line_end(end)]
    if re.search(rb"#\s*(fmt: *off|yapf: *disable)", head) and re.match(rb"\s*#\s*(fmt: *on|yapf: *enable)", following):
        end = source.text.line_end(end)
    return Piece(ref=located.ref, node=located.node, start=start, end=end, is_carried=is_carried)


def runs(source: Source, pieces: list[Piece]) -> list[tuple[int, int, ast.stmt]]:
    """Spans of module-level pieces, each with its first statement; neighbours with only blank lines between are one."""
    found: list[tuple[int, int, ast.stmt]] = []
    for piece in sorted(pieces, key=lambda each: each.start):
        if found and not source.body[found[-1][1] : piece.start].strip():
            found[-1] = (found[-1][0], piece.end, found[-1][2])
        else:
            found.append((piece.start, piece.end, piece.node))
    return found


def pieces_of(files: FileSet, located: Located, carry: Iterable[str]) -> list[Piece]:
    """What goes along, then the definition itself."""
    carried = [find(files, DefRef(located.ref.module, name)) for name in carry]
    return [
        *(piece_of(found, is_carried=True) for found in carried if found.owner is None),
        piece_of(located, is_carried=False),
    ]


def own_references(source: Source, piece: Piece, located: Located) -> dict[int, Edit]:
    """`A.f` inside `f` itself, by the offset of `A`: becomes `f`."""
    if not located.ref.owner:
        return {}
    head = located.ref.owner.partition(".")[0]
    wanted = f"{located.ref.owner}.{piece.name}"
    found: dict[int, Edit] = {}
    for node in ast.walk(piece.node):
        if isinstance(node, ast.Attribute) and node.attr == piece.name and ast.unparse(node) == wanted:
            start = source.start(node)
            if head in table(source).module.bound:
                found[start] = Edit(start, source.end(node), piece.name.encode())
    return found


def relative_imports(piece: Piece, imports: list[Import], spell: Callable[[str], str]) -> dict[ast.ImportFrom, str]:
    """The relative imports inside a piece, each with its module as the new file spells it."""
    found: dict[ast.ImportFrom, str] = {}
    inside = set(ast.walk(piece.node))
    for each in imports:
        if isinstance(each.statement, ast.ImportFrom) and each.statement.level and each.statement in inside:
            found[each.statement] = spell(each.module)
    return found


def block_text(source: Source, piece: Piece, changes: Changes) -> bytes:
    """The block as it is pasted at module level; ends with a newline."""
    indent = source.text.indent_at(source.start(piece.node))
    edits = [*changes.own.values(), *_renamed(source, piece, changes.renames)]
    edits += _without_staticmethod(source, piece)
    edits += [
        _with_module(source, node, module) for node, module in changes.modules.items() if node not in changes.removed
    ]
    edits += [_without(source, node) for node in changes.removed]
    if isinstance(piece.node, FUNCTIONS):
        edits += _type_parameters(source, piece.node, changes.types)
        if changes.local_lines:
            edits.append(local_edit(source, piece.node, sorted(changes.local_lines), outer=indent))
        edits += [line_above(source, node, line, outer=indent) for node, line in changes.placed]
    taken = [(edit.start, edit.end) for edit in edits if edit.end > edit.start]
    shifts = indent_edits(source, piece.start, piece.end, old=indent, new=b"")
    # what is added goes in front of a line that is shifted at the same place
    edits += [edit for edit in shifts if not any(start <= edit.start < end for start, end in taken)]
    moved = [Edit(edit.start - piece.start, edit.end - piece.start, edit.text) for edit in edits]
    text = apply_edits(source.body[piece.start : piece.end], moved)
    return text if text.endswith((b"\n", b"\r")) else text + source.text.newline


def _renamed(source: Source, piece: Piece, renames: Mapping[str, str]) -> list[Edit]:
    scopes = table(source)
    return [
        Edit(occurrence.start, occurrence.end, renames[occurrence.name].encode())
        for occurrence in scopes.between(piece.start, piece.end)
        if occurrence.name in renames and scopes.resolve(occurrence) is scopes.module
    ]


def _without_staticmethod(source: Source, piece: Piece) -> list[Edit]:
    """The decorator's own lines; comments between the decorators stay."""
    if not isinstance(piece.node, FUNCTIONS) or not isinstance(source.parents[piece.node], ast.ClassDef):
        return []
    edits = []
    for decorator in piece.node.decorator_list:
        if isinstance(decorator, ast.Name) and decorator.id == "staticmethod":
            start = source.text.line_start(source.start(decorator))
            edits.append(Edit(start, source.text.line_end(source.end(decorator) - 1), b""))
    return edits


def self_imports(source: Source, piece: Piece, imports: list[Import], module: str, there: Set[str]) -> list[ast.stmt]:
    """Imports in the body of names that the new module, where the body goes, has itself (there)."""
    found: list[ast.stmt] = []
    inside = set(ast.walk(piece.node))
    for statement in dict.fromkeys(each.statement for each in imports if each.statement in inside):
        own = [each for each in imports if each.statement is statement]
        is_all = all(
            (each.module, each.attribute) == (module, each.name) and each.name in there and _is_only(each)
            for each in own
        )
        parent = source.parents[statement]
        block = next(value for _, value in ast.iter_fields(parent) if isinstance(value, list) and statement in value)
        if is_all and len(block) > 1 and not shares_line(source, statement) and own[0].scope.kind is ScopeKind.FUNCTION:
            found.append(statement)
    return found


def _is_only(found: Import) -> bool:
    return len(found.scope.bound[found.name]) == 1


def _without(source: Source, statement: ast.stmt) -> Edit:
    """The lines of an import, and the blank line that set it apart from what follows."""
    start, end = source.text.line_start(source.start(statement)), tail_end(source, statement)
    below = source.text.line_end(end)
    above = source.body[:start].rstrip(b" \t\r\n")
    is_first = above.endswith((b":", b'"', b"'")) or source.body[len(above) : start].count(source.text.newline) > 1
    if is_first and not source.body[end:below].strip():
        end = below
    return Edit(start, end, b"")


def _with_module(source: Source, statement: ast.ImportFrom, module: str) -> Edit:
    start, end = module_span(source, statement)
    return Edit(start, end, module.encode())


def module_span(source: Source, statement: ast.ImportFrom) -> tuple[int, int]:
    """Where `from … import` writes its module, dots included."""
    at = source.start(statement)
    match = _FROM.match(source.body, at)
    assert match is not None
    return match.span(1)


def _type_parameters(source: Source, function: Function, types: tuple[str, ...]) -> list[Edit]:
    """Type parameters of the class that the function uses are declared by the function itself."""
    if not types:
        return []
    own = getattr(function, "type_params", [])
    if own:
        at = source.start(own[0])
        return [Edit(at, at, (", ".join(types) + ", ").encode())]
    at = brackets_of(source, function).open
    return [Edit(at, at, f"[{', '.join(types)}]".encode())]


def type_parameters_used(source: Source, function: Function) -> list[str]:
    """Texts of the type parameters of an outer scope that the function reads."""
    scopes = table(source)
    used: list[str] = []
    for occurrence in scopes.between(source.start(function), source.end(function)):
        home = scopes.resolve(occurrence)
        if home is not None and home.kind is ScopeKind.TYPE_PARAMETERS and home.node is not function:
            if source.start(function) <= source.start(home.node) < source.end(function):
                continue  # of a definition inside
            text = source.segment(home.bound[occurrence.name][0].node).decode()
            if text not in used:
                used.append(text)
    return used
