"""Everything that a move adds to its target: the text itself, a logger, imports for type checkers; where each goes."""

from __future__ import annotations

from msgspec import Struct

from codemods.schema.hazards import Hazard, Severity
from codemods.source.binder import table
from codemods.source.files import FileSet
from codemods.source.import_layout import Line
from codemods.source.parse import Source
from codemods.source.scopes import Role
from codemods.source.splice import Edit
from codemods.transforms.adjust_imports import Importer
from codemods.transforms.move_imports import Supply
from codemods.transforms.move_needs import Block, same_there
from codemods.transforms.move_place import bound_below, logger_edit, needed_above, typing_edits
from codemods.transforms.move_text import paste, paste_constant


class Pasted(Struct, frozen=True, kw_only=True):
    """The text as it goes into the target, with the names that it defines.

    starts_constant: constants come first. is_constant: there is nothing else."""

    text: bytes
    names: tuple[str, ...]
    starts_constant: bool
    is_constant: bool


def paste_edits(
    files: FileSet, target: Source, pasted: Pasted, blocks: list[Block], supply: Supply, importer: Importer
) -> tuple[list[Edit], list[Hazard]]:
    """The edits of the target, imports at module level excepted (they are the importer's)."""
    edits: list[Edit] = []
    if supply.logger:
        edits.append(logger_edit(target, supply.logger))
    if supply.typing_lines:
        found, needs_import = typing_edits(target, list(supply.typing_lines), files.line_length)
        edits.extend(found)
        if needs_import and "TYPE_CHECKING" not in table(target).module.bound:
            importer.add(Line("typing", "TYPE_CHECKING"))
    names = [name for block in blocks for name in block.names]
    own = [name.name for name in names if same_there(files, block_source(blocks), target, name.name)]
    above = needed_above(target, _uses(target, pasted.names))
    if above is not None:
        late = bound_below(target, own, above)
        if late:
            return edits, [_too_early(target, above.lineno, pasted.names[-1], late)]
    constant = None
    if pasted.is_constant and above is None and not own:
        constant = paste_constant(target, pasted.text)
    has_head = bool(edits) or bool(importer.lines)
    tight = pasted.starts_constant and not pasted.text.startswith(b"#")
    edits.append(constant or paste(target, pasted.text, has_head=has_head, is_tight=tight, above=above))
    return edits, []


def block_source(blocks: list[Block]) -> Source:
    """The file that the blocks come from."""
    return blocks[0].source


def _uses(target: Source, names: tuple[str, ...]) -> list[int]:
    """Offsets at which the target reads names that it does not bind yet."""
    scopes = table(target)
    reads = [each for name in names for each in scopes.named(name) if each.role is Role.LOAD and not each.deferred]
    return [each.start for each in reads if scopes.resolve(each) is None]


def _too_early(target: Source, line: int, name: str, late: str) -> Hazard:
    return Hazard(
        code="U109",
        severity=Severity.STOP,
        path=target.path,
        line=line,
        message=f"{name} is needed here when the module is imported, above {late} that it reads itself",
        settle=f"move {late} further up in {target.path} first",
    )
