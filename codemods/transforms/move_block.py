"""The text of one definition on its way: cut as bytes, its qualifier and `@staticmethod` gone, one indentation less."""

from __future__ import annotations

import ast

from msgspec import Struct

from codemods.schema.refs import DefRef
from codemods.source.binder import table
from codemods.source.files import FileSet
from codemods.source.locate import Located, head_start, tail_end
from codemods.source.parse import FUNCTIONS, Function, Source
from codemods.source.scopes import ScopeKind
from codemods.source.splice import Edit, apply_edits, indent_edits
from codemods.transforms.adjust_imports import body_start
from codemods.transforms.layout import indent_unit
from codemods.transforms.layout import parameter_brackets as brackets_of


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


def piece_of(located: Located, *, is_carried: bool) -> Piece:
    """The span of a located definition."""
    source = located.source
    return Piece(
        ref=located.ref,
        node=located.node,
        start=head_start(source, located.node),
        end=tail_end(source, located.node),
        is_carried=is_carried,
    )


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
            scope = table(source).module
            if head in scope.bound:
                found[start] = Edit(start, source.end(node), piece.name.encode())
    return found


def block_text(
    files: FileSet,
    source: Source,
    piece: Piece,
    references: dict[int, Edit],
    renames: dict[str, str],
    local_lines: tuple[str, ...],
) -> bytes:
    """The block as it is pasted at module level; ends with a newline."""
    del files
    indent = source.text.indent_at(source.start(piece.node))
    edits = [*references.values(), *_renamed(source, piece, renames)]
    edits += _without_staticmethod(source, piece)
    if isinstance(piece.node, FUNCTIONS):
        edits += _type_parameters(source, piece.node)
        if local_lines:
            edits.append(_local_imports(source, piece.node, local_lines, indent))
    taken = [(edit.start, edit.end) for edit in edits if edit.end > edit.start]
    shifts = indent_edits(source, piece.start, piece.end, old=indent, new=b"")
    edits += [edit for edit in shifts if not any(start <= edit.start < end for start, end in taken)]
    moved = [Edit(edit.start - piece.start, edit.end - piece.start, edit.text) for edit in edits]
    text = apply_edits(source.body[piece.start : piece.end], moved)
    return text if text.endswith((b"\n", b"\r")) else text + source.text.newline


def _renamed(source: Source, piece: Piece, renames: dict[str, str]) -> list[Edit]:
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


def _type_parameters(source: Source, function: Function) -> list[Edit]:
    """Type parameters of the class that the function uses are declared by the function itself."""
    scopes = table(source)
    used: list[str] = []
    for occurrence in scopes.between(source.start(function), source.end(function)):
        home = scopes.resolve(occurrence)
        if home is not None and home.kind is ScopeKind.TYPE_PARAMETERS and home.node is not function:
            text = source.segment(home.bound[occurrence.name][0].node).decode()
            if text not in used:
                used.append(text)
    if not used:
        return []
    own = getattr(function, "type_params", [])
    if own:
        at = source.start(own[0])
        return [Edit(at, at, (", ".join(used) + ", ").encode())]
    at = brackets_of(source, function).open
    return [Edit(at, at, f"[{', '.join(used)}]".encode())]


def _local_imports(source: Source, function: Function, lines: tuple[str, ...], indent: bytes) -> Edit:
    """Imports at the top of the body, with the block's new indentation (the class's is gone)."""
    at, inner = body_start(source, function)
    new = inner[len(indent) :] if inner.startswith(indent) else indent_unit(source)
    newline = source.text.newline
    text = b"".join(new + line.encode() + newline for line in sorted(lines)) + newline
    return Edit(at, at, text)
