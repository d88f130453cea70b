"""Move: a function, class, constant or static method goes to another module; imports and qualifiers follow.

Cuts the text, shifts it by one indentation, pastes it. Its tokens stay the same ones in the same order but for what
move_tokens.py lists. What the body may not do is for make_static.py."""

from __future__ import annotations

from typing import Literal

from msgspec import Struct

from codemods.schema.hazards import Hazard, Refusal
from codemods.schema.refs import DefRef
from codemods.schema.result import Finding, Phase
from codemods.source.binder import table
from codemods.source.callsites import call_sites
from codemods.source.exports import add_export, exports_of
from codemods.source.files import FileSet
from codemods.source.import_layout import Line, has_postponed_annotations
from codemods.source.imports import imports_of
from codemods.source.locate import Located, find
from codemods.source.modules import modules_of
from codemods.source.parse import FUNCTIONS, Source, load
from codemods.source.splice import Edit
from codemods.source.text import NotText
from codemods.transforms.adjust_imports import Importer
from codemods.transforms.drop_imports import ImportKey, drop_named, drop_unused, import_key
from codemods.transforms.move_block import (
    Changes,
    Piece,
    block_text,
    own_references,
    pieces_of,
    relative_imports,
    runs,
    self_imports,
    type_parameters_used,
)
from codemods.transforms.move_callers import Callers, Requalify
from codemods.transforms.move_checks import (
    after_hazards,
    new_module_hazards,
    shape_refusals,
    type_comment_hazards,
)
from codemods.transforms.move_imports import Supplier, Supply
from codemods.transforms.move_indent import in_indent_of
from codemods.transforms.move_needs import Block, block_of, merged
from codemods.transforms.move_paste import Pasted, paste_edits
from codemods.transforms.move_place import conflicts, typing_edits
from codemods.transforms.move_strings import logger_hazards, reads_by_home, repathed
from codemods.transforms.move_target import own_uses
from codemods.transforms.move_text import above_class, cut, with_plain_newlines
from codemods.transforms.move_tokens import check_tokens
from codemods.transforms.move_write import written
from codemods.transforms.transform import Planned, Transform, Words, refused


class MoveArgs(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """definition, to: as in a plan. call: how callers name it. carry: names that move along. reexport: the old module
    imports the name. alias: the class keeps `name = staticmethod(module.name)`. drop_effects: U109 is accepted.
    strings: what happens to strings that name the old place."""

    definition: str
    to: str
    call: Literal["module", "name"] = "module"
    carry: tuple[str, ...] = ()
    reexport: bool = False
    alias: bool = False
    drop_effects: bool = False
    strings: Literal["rewrite", "keep"] = "rewrite"


def plan(files: FileSet, args: MoveArgs) -> Planned:
    """Everything the move changes, strings included."""
    located = find(files, DefRef.parse(args.definition))
    modules = modules_of(files)
    target_path = modules.path_of(args.to) or modules.new_path_of(args.to)
    if target_path is None:
        package = args.to.rpartition(".")[0]
        return refused(
            _refusal(located, "unknown-package", f"there is no package {package!r} for {args.to}", "make it first")
        )
    if located.owner is None and target_path == located.path:
        return refused(_refusal(located, "same-module", f"{located.ref} is in {args.to} already", "drop this step"))
    pieces = pieces_of(files, located, args.carry)
    refusals = [refusal for piece in pieces for refusal in shape_refusals(located.source, piece, pieces)]
    if refusals:
        return refused(*refusals)
    hazards: list[Hazard] = []
    before = files
    if target_path not in files:
        header = b"from __future__ import annotations\n" if has_postponed_annotations(located.source) else b""
        files = files.write(target_path, header)
        hazards.extend(new_module_hazards(files, target_path, before))
    elif target_path != located.path:
        uses = own_uses(files, target_path, pieces)
        files = uses.files
        hazards.extend(uses.hazards)
    return _Move(before, files, args, located, target_path, pieces, hazards).run()


def _refusal(located: Located, code: str, message: str, settle: str) -> Refusal:
    return Refusal(code=code, path=located.path, line=located.node.lineno, message=message, settle=settle)


class _Move:
    """One move, from what was located to the new files."""

    def __init__(
        self,
        before: FileSet,
        files: FileSet,
        args: MoveArgs,
        located: Located,
        target_path: str,
        pieces: list[Piece],
        hazards: list[Hazard],
    ) -> None:
        self.before, self.files, self.args, self.located = before, files, args, located
        self.source, self.target = located.source, load(files, target_path)
        modules = modules_of(files)
        self.module, self.old_module = modules.module_of(target_path), modules.module_of(located.path)
        self.pieces, self.hazards = pieces, hazards
        self.edits: dict[str, list[Edit]] = {}
        self.touched: dict[str, set[str]] = {}
        self.gone: dict[str, set[ImportKey]] = {}
        self.importers: dict[str, Importer] = {}
        self.findings: list[Finding] = []

    def _importer(self, source: Source) -> Importer:
        like = self.source if source is self.target else None
        return self.importers.setdefault(source.path, Importer(self.files, source, like=like))

    @property
    def is_local(self) -> bool:
        """A static method that becomes a function of its own module."""
        return self.target.path == self.source.path

    @property
    def is_exported(self) -> bool:
        return any(export.name == self.located.ref.name for export in exports_of(self.source))

    def run(self) -> Planned:
        blocks = [self._block(piece) for piece in self.pieces]
        refusals = [refusal for block in blocks for refusal in block.refusals]
        if refusals:
            return refused(*refusals, hazards=tuple(self.hazards))
        if not self.is_local:
            for piece in self.pieces:
                self.hazards.extend(conflicts(self.files, self.source, self.target, piece.name, self.before))
                self.hazards.extend(type_comment_hazards(self.source, self.target, piece))
        self._callers()
        supply = None if self.is_local else self._supply(merged(blocks))
        self._paste(supply, blocks)
        self._cut()
        try:
            files = self._written()
        except NotText as error:
            refusal = Refusal(code=error.code, path=error.path, line=0, message=error.message, settle=error.fix)
            return refused(refusal, hazards=tuple(self.hazards))
        files = self._strings(files, blocks, supply)
        if supply is not None:
            self.hazards.extend(after_hazards(self.before, files, self.located, self.pieces, self.target.path))
        files = self._dropped(files, blocks)
        return Planned(files=files, hazards=tuple(dict.fromkeys(self.hazards)), findings=tuple(self.findings))

    def _block(self, piece: Piece) -> Block:
        own = frozenset(each.name for each in self.pieces)
        skip = own_references(self.source, piece, self.located) if not piece.is_carried else {}
        block = block_of(self.files, self.source, piece.start, piece.end, own, frozenset(skip))
        self.hazards.extend(block.hazards)
        return block

    # -- who names it

    def _callers(self) -> None:
        for piece in self.pieces:
            requalify = Requalify(
                self.files,
                call_sites(self.files, piece.ref),
                name=piece.name,
                owner="" if piece.is_carried else self.located.ref.owner,
                module=self.module,
                target=self.target.path,
                style="name" if piece.is_carried else self.args.call,
                span=(self.source.path, piece.start, piece.end),
                moved=[(each.start, each.end) for each in self.pieces],
                importers=self.importers,
            )
            self._merge(requalify.run())

    def _merge(self, callers: Callers) -> None:
        for path, edits in callers.edits.items():
            self.edits.setdefault(path, []).extend(edits)
        for path, names in callers.touched.items():
            self.touched.setdefault(path, set()).update(names)
        for path, keys in callers.gone.items():
            self.gone.setdefault(path, set()).update(keys)
        for path, lines in callers.for_types.items():
            edits, _ = typing_edits(load(self.files, path), list(lines), self.files.line_length)
            self.edits.setdefault(path, []).extend(edits)
        self.hazards.extend(callers.hazards)

    # -- what it needs there

    def _supply(self, block: Block) -> Supply:
        function = self.located.node if isinstance(self.located.node, FUNCTIONS) else None
        needs_target = self.args.reexport or self.args.alias or self.source.path in self.importers
        supplier = Supplier(
            self.files,
            block,
            self.target,
            self._importer(self.target),
            taken=frozenset(piece.name for piece in self.pieces),
            source_needs_target=needs_target or self.is_exported,
            function=function,
        )
        supply = supplier.supply()
        self.hazards.extend(supply.hazards)
        self.findings.extend(Finding(topic="imports", text=line) for line in supply.local_lines)
        return supply

    # -- the text

    def _paste(self, supply: Supply | None, blocks: list[Block]) -> None:
        texts = [self._text(piece, supply) for piece in self.pieces]
        constants = [text for piece, text in zip(self.pieces, texts, strict=True) if piece.is_constant]
        definitions = [text for piece, text in zip(self.pieces, texts, strict=True) if not piece.is_constant]
        group = ([b"".join(constants)] if constants else []) + definitions
        text = with_plain_newlines(self.source, b"\n\n".join(group))
        if supply is None:
            assert self.located.owner is not None
            self.edits.setdefault(self.target.path, []).append(above_class(self.source, self.located.owner, text))
            return
        names = tuple(piece.name for piece in self.pieces)
        pasted = Pasted(text=text, names=names, starts_constant=bool(constants), is_constant=not definitions)
        edits, hazards = paste_edits(self.files, self.target, pasted, blocks, supply, self._importer(self.target))
        self.hazards.extend(hazards)
        if self.is_exported:
            edits += add_export(self.target, self.located.ref.name, line_length=self.files.line_length)
        self.edits.setdefault(self.target.path, []).extend(edits)

    def _text(self, piece: Piece, supply: Supply | None) -> bytes:
        own = own_references(self.source, piece, self.located) if not piece.is_carried else {}
        types: tuple[str, ...] = ()
        if isinstance(piece.node, FUNCTIONS):
            types = tuple(type_parameters_used(self.source, piece.node))
        changes = Changes(own=own, types=types)
        if supply is not None:
            spell = self._importer(self.target).written_within
            imports = imports_of(self.files, self.source)
            there = {*table(self.target).module.bound, *(each.name for each in self.pieces)}
            changes = Changes(
                own=own,
                types=types,
                renames=supply.renames,
                local_lines=() if piece.is_carried else supply.local_lines,
                placed=() if piece.is_carried else supply.placed,
                modules=relative_imports(piece, imports, spell),
                removed=tuple(self_imports(self.source, piece, imports, self.module, there)),
            )
        text = block_text(self.source, piece, changes)
        if supply is not None:
            text = in_indent_of(self.target, self.source, text)
        check_tokens(self.source, piece, text, changes)
        return text

    def _cut(self) -> None:
        edits = self.edits.setdefault(self.source.path, [])
        stays = self._alias(self.pieces[-1]) if self.args.alias else b""
        if stays or self.located.owner is not None:
            piece = self.pieces[-1]
            edits.append(cut(self.source, piece.start, piece.end, piece.node, stays))
        whole = [piece for piece in self.pieces if piece.is_carried or self.located.owner is None]
        edits.extend(cut(self.source, start, end, node) for start, end, node in runs(self.source, whole))
        if self.located.owner is None and (self.args.reexport or self.is_exported):
            importer = self._importer(self.source)
            line = Line(importer.written(self.module), self.located.ref.name)
            if not self.is_exported and line not in importer.lines:
                line = Line(line.module, line.name, mark="noqa: F401")
            if importer.is_circular(self.module):
                self.hazards.append(importer.cycle_hazard(self.module, self.located.node.lineno))
            importer.add(line)

    def _alias(self, piece: Piece) -> bytes:
        at = self.source.start(piece.node)
        text = piece.name
        if not self.is_local:
            brought = self._importer(self.source).need(self.module, piece.name, style=self.args.call, at=at)
            self.hazards.extend(brought.hazards)
            text = brought.text
        return (
            self.source.text.indent_at(at) + f"{piece.name} = staticmethod({text})".encode() + self.source.text.newline
        )

    # -- the result

    def _written(self) -> FileSet:
        for path, importer in self.importers.items():
            if importer.replaced:
                self.gone.setdefault(path, set()).update(import_key(each) for each in importer.replaced)
                self.touched.setdefault(path, set()).update(("TYPE_CHECKING", "typing"))
        return written(self.files, self.edits, self.importers, (self.source.path, self.target.path))

    def _strings(self, files: FileSet, blocks: list[Block], supply: Supply | None) -> FileSet:
        reads = reads_by_home(blocks, supply, self.module) if supply is not None else {}
        files, results = repathed(
            self.before, files, self.pieces, self.old_module, self.module, reads, self.args.strings
        )
        for found in results:
            self.hazards.extend(found.hazards)
            self.findings.extend(found.findings)
        if supply is not None and supply.logs_elsewhere:
            self.hazards.extend(logger_hazards(self.before, self.old_module, self.module))
        return files

    def _dropped(self, files: FileSet, blocks: list[Block]) -> FileSet:
        for path, keys in self.gone.items():
            dropped = drop_named(files, path, keys)
            files = dropped.files
            self.hazards.extend(dropped.hazards)
        wanted = {self.source.path: [name.name for block in blocks for name in block.names if name.imports]}
        for path, touched in self.touched.items():
            wanted.setdefault(path, []).extend(sorted(touched))
        for path, group in wanted.items():
            dropped = drop_unused(files, path, group, drop_effects=self.args.drop_effects)
            files = dropped.files
            self.hazards.extend(dropped.hazards)
        return files


def words(args: MoveArgs) -> Words:
    """The commit's words."""
    ref = DefRef.parse(args.definition)
    carried = f" with {', '.join(args.carry)}" if args.carry else ""
    return Words(
        f"Move {ref.name} to {args.to}",
        f"{ref.qualname} goes from {ref.module} to {args.to}{carried}, token for token; imports and call qualifiers "
        "follow.",
    )


TRANSFORM = Transform(name="move_definition", phase=Phase.MOVE, args=MoveArgs, plan=plan, words=words)
