"""Move: a function, class, constant or static method goes to another module; imports and qualifiers follow.

Cuts the text, shifts it by one indentation, pastes it. Its tokens stay the same ones in the same order but for
`@staticmethod`, its own qualifier and the target's logger name. What the body may not do is for make_static.py."""

from __future__ import annotations

from typing import Literal

from msgspec import Struct

from codemods.schema.hazards import Hazard, Refusal
from codemods.schema.refs import DefRef
from codemods.schema.result import Finding, Phase
from codemods.source.callsites import call_sites
from codemods.source.exports import add_export, exports_of
from codemods.source.files import FileSet
from codemods.source.import_layout import Line, add_lines, has_postponed_annotations
from codemods.source.locate import Located, find
from codemods.source.modules import modules_of
from codemods.source.parse import FUNCTIONS, Source, load
from codemods.source.splice import Edit, apply_edits
from codemods.transforms.adjust_imports import Importer
from codemods.transforms.drop_imports import drop_unused
from codemods.transforms.move_block import Piece, block_text, own_references, piece_of
from codemods.transforms.move_callers import Callers, Requalify
from codemods.transforms.move_imports import Supplier, Supply
from codemods.transforms.move_needs import Block, FreeName, block_of
from codemods.transforms.move_place import conflicts, logger_edit, typing_edit
from codemods.transforms.move_text import above_class, cut, in_newline_of, paste
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
    """Everything the move changes, strings excepted."""
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
    is_new = target_path not in files
    if is_new:
        header = b"from __future__ import annotations\n" if has_postponed_annotations(located.source) else b""
        files = files.write(target_path, header)
    return _Move(files, args, located, target_path, is_new=is_new).run()


def _refusal(located: Located, code: str, message: str, settle: str) -> Refusal:
    return Refusal(code=code, path=located.path, line=located.node.lineno, message=message, settle=settle)


class _Move:
    """One move, from what was located to the new files."""

    def __init__(self, files: FileSet, args: MoveArgs, located: Located, target_path: str, *, is_new: bool) -> None:
        self.files, self.args, self.located, self.is_new = files, args, located, is_new
        self.source, self.target = located.source, load(files, target_path)
        self.module = modules_of(files).module_of(target_path)
        self.pieces: list[Piece] = []
        self.hazards: list[Hazard] = []
        self.refusals: list[Refusal] = []
        self.edits: dict[str, list[Edit]] = {}
        self.touched: dict[str, set[str]] = {}
        self.importers: dict[str, Importer] = {}

    def _importer(self, source: Source) -> Importer:
        return self.importers.setdefault(source.path, Importer(self.files, source))

    @property
    def is_local(self) -> bool:
        """A static method that becomes a function of its own module."""
        return self.target.path == self.source.path

    def run(self) -> Planned:
        self._collect()
        if self.refusals:
            return refused(*self.refusals, hazards=tuple(self.hazards))
        own = frozenset(piece.name for piece in self.pieces)
        blocks = [self._block(piece, own) for piece in self.pieces]
        self._callers()
        supply = self._supply(blocks, own)
        self._paste(supply)
        self._cut()
        if self.refusals:
            return refused(*self.refusals, hazards=tuple(self.hazards))
        files = self._written()
        files = self._dropped(files, blocks)
        return Planned(files=files, hazards=tuple(dict.fromkeys(self.hazards)), findings=tuple(self._findings(supply)))

    # -- what goes

    def _collect(self) -> None:
        for name in self.args.carry:
            found = find(self.files, DefRef(self.located.ref.module, name))
            if found.owner is None:
                self.pieces.append(piece_of(found, is_carried=True))
        self.pieces.append(piece_of(self.located, is_carried=False))
        if not self.is_local:
            for piece in self.pieces:
                found_conflicts = conflicts(self.files, self.source, self.target, piece.name)
                self.hazards.extend(found_conflicts)

    def _block(self, piece: Piece, own: frozenset[str]) -> Block:
        skip = own_references(self.source, piece, self.located) if not piece.is_carried else {}
        block = block_of(self.files, self.source, piece.start, piece.end, own, frozenset(skip))
        self.hazards.extend(block.hazards)
        self.refusals.extend(block.refusals)
        return block

    # -- who names it

    def _callers(self) -> None:
        for piece in self.pieces:
            sites = call_sites(self.files, piece.ref)
            owner = "" if piece.is_carried else self.located.ref.owner
            requalify = Requalify(
                self.files,
                sites,
                name=piece.name,
                owner=owner,
                module=self.module,
                target=self.target.path,
                style="name" if piece.is_carried else self.args.call,
                span=(self.source.path, piece.start, piece.end),
                importers=self.importers,
            )
            self._merge(requalify.run())

    def _merge(self, callers: Callers) -> None:
        for path, edits in callers.edits.items():
            self.edits.setdefault(path, []).extend(edits)
        for path, names in callers.touched.items():
            self.touched.setdefault(path, set()).update(names)
        self.hazards.extend(callers.hazards)

    # -- what it needs there

    def _supply(self, blocks: list[Block], own: frozenset[str]) -> Supply | None:
        if self.is_local:
            return None
        names: dict[str, FreeName] = {}
        for block in blocks:
            for name in block.names:
                names.setdefault(name.name, name)
        merged = Block(
            source=self.source,
            start=min(block.start for block in blocks),
            end=max(block.end for block in blocks),
            names=tuple(names.values()),
            builtins=frozenset().union(*(block.builtins for block in blocks)),
        )
        needs_target = self.args.reexport or self.args.alias or self.source.path in self.importers
        supplier = Supplier(
            self.files,
            merged,
            self.target,
            self._importer(self.target),
            taken=own,
            source_needs_target=needs_target or self._is_exported(),
        )
        supply = supplier.supply(is_function=isinstance(self.located.node, FUNCTIONS))
        self.hazards.extend(supply.hazards)
        return supply

    def _is_exported(self) -> bool:
        return any(export.name == self.located.ref.name for export in exports_of(self.source))

    # -- the text

    def _paste(self, supply: Supply | None) -> None:
        texts = []
        for piece in self.pieces:
            references = own_references(self.source, piece, self.located) if not piece.is_carried else {}
            renames = supply.renames if supply else {}
            local = supply.local_lines if supply and not piece.is_carried else ()
            texts.append(block_text(self.files, self.source, piece, references, renames, local))
        constants = [text for piece, text in zip(self.pieces, texts, strict=True) if piece.is_constant]
        definitions = [text for piece, text in zip(self.pieces, texts, strict=True) if not piece.is_constant]
        group = ([b"".join(constants)] if constants else []) + definitions
        text = in_newline_of(self.target, self.source, b"\n\n".join(group))
        edits = self.edits.setdefault(self.target.path, [])
        if self.is_local:
            assert self.located.owner is not None
            edits.append(above_class(self.source, self.located.owner, text))
            return
        assert supply is not None
        if supply.wants_logger:
            edits.append(logger_edit(self.target, supply.wants_logger))
        if supply.typing_lines:
            edit, needs_import = typing_edit(self.target, list(supply.typing_lines))
            edits.append(edit)
            if needs_import:
                self._importer(self.target).add(Line("typing", "TYPE_CHECKING"))
        edits.append(paste(self.target, text, has_head=bool(edits) or bool(self._importer(self.target).lines)))
        for piece in self.pieces:
            if self._is_exported() and not piece.is_carried:
                edits.extend(add_export(self.target, piece.name))

    def _cut(self) -> None:
        edits = self.edits.setdefault(self.source.path, [])
        name = self.located.ref.name
        for piece in self.pieces:
            stays = b""
            if not piece.is_carried and self.args.alias:
                stays = self._alias(piece)
            edits.append(cut(self.source, piece.start, piece.end, piece.node, stays))
        if self.located.owner is None and (self.args.reexport or self._is_exported()):
            edits.extend(self._reexport(name))

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

    def _reexport(self, name: str) -> list[Edit]:
        importer = self._importer(self.source)
        line = Line(importer.written(self.module), name, "")
        if self._is_exported() or line in importer.lines:
            importer.add(line)
            return []
        own = importer.modules.module_of(self.source.path).partition(".")[0]
        edits = add_lines(self.source, [line], line_length=self.files.line_length, own=own)
        marked = f"{line.text()}  # noqa: F401".encode()
        return [Edit(edit.start, edit.end, edit.text.replace(line.text().encode(), marked)) for edit in edits]

    # -- the result

    def _written(self) -> FileSet:
        files = self.files
        for path, importer in self.importers.items():
            # imports stand above whatever else goes to the same place
            self.edits[path] = [*importer.edits(), *self.edits.get(path, [])]
        for path, edits in self.edits.items():
            source = load(self.files, path)
            body = apply_edits(source.body, dict.fromkeys(edits))
            files = files.write(path, source.text.encode(body))
        return files

    def _dropped(self, files: FileSet, blocks: list[Block]) -> FileSet:
        names = [name.name for block in blocks for name in block.names if name.imports]
        wanted = {self.source.path: names}
        for path, touched in self.touched.items():
            wanted.setdefault(path, []).extend(sorted(touched))
        for path, group in wanted.items():
            if path == self.target.path and path != self.source.path:
                continue
            dropped = drop_unused(files, path, group, drop_effects=self.args.drop_effects)
            files = dropped.files
            self.hazards.extend(dropped.hazards)
        return files

    def _findings(self, supply: Supply | None) -> list[Finding]:
        return [Finding(topic="imports", text=line) for line in (supply.local_lines if supply else ())]


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
