"""The target's own uses of what comes to it: `A.f` and `src.f` become `f`, and the imports that were only for them go.

Done before anything else, because a target that imports the old module only for this is no cycle any more."""

from __future__ import annotations

import ast

from msgspec import Struct

from codemods.schema.hazards import Hazard, Severity
from codemods.source.binder import table
from codemods.source.callsites import call_sites
from codemods.source.files import FileSet
from codemods.source.imports import imports_of
from codemods.source.parse import Source, load
from codemods.source.scopes import lookup
from codemods.source.sites import CallSite, SiteKind, node_at
from codemods.source.splice import Edit, apply_edits
from codemods.transforms.drop_imports import ImportKey, drop_named, drop_unused, import_key
from codemods.transforms.local_imports import scope_at
from codemods.transforms.move_block import Piece


class OwnUses(Struct, frozen=True, kw_only=True, eq=False):
    """The files with the target's uses written as they will be once the definitions are there."""

    files: FileSet
    hazards: tuple[Hazard, ...]


def own_uses(files: FileSet, path: str, pieces: list[Piece]) -> OwnUses:
    """Spell what the file at `path` already uses of the pieces by its bare name."""
    source = load(files, path)
    work = _Work(files, source)
    for piece in pieces:
        for site in call_sites(files, piece.ref).sites:
            if site.path == path and site.is_sure:
                work.handle(site, piece.name)
    if not work.edits and not work.gone:
        return OwnUses(files=files, hazards=tuple(work.hazards))
    body = apply_edits(source.body, dict.fromkeys(work.edits))
    changed = files.write(path, source.text.encode(body))
    changed = drop_named(changed, path, work.gone).files
    dropped = drop_unused(changed, path, sorted(work.touched))
    return OwnUses(files=dropped.files, hazards=(*work.hazards, *dropped.hazards))


class _Work:
    def __init__(self, files: FileSet, source: Source) -> None:
        self.files, self.source = files, source
        self.edits: list[Edit] = []
        self.gone: set[ImportKey] = set()
        self.touched: set[str] = set()
        self.hazards: list[Hazard] = []

    def handle(self, site: CallSite, name: str) -> None:
        if site.kind is SiteKind.IMPORT:
            found = [
                each for each in imports_of(self.files, self.source) if self.source.start(each.alias) == site.start
            ]
            self.gone.update(import_key(each) for each in found)
            return
        if isinstance(site.node, ast.Constant):
            return
        if site.kind in (SiteKind.ASSIGNMENT, SiteKind.DELETION, SiteKind.SUPER_CALL, SiteKind.CLS_CALL):
            return  # move_callers.py stops at it
        node = node_at(self.source, site)
        named = node.func if isinstance(node, ast.Call) else node
        head = named
        while isinstance(head, ast.Attribute):
            head = head.value
        if not isinstance(head, ast.Name):
            return
        start = self.source.start(named)
        home = lookup(scope_at(self.source, start), name)
        if home is not None and home is not table(self.source).module:
            message = f"{name} is bound locally here, so the function of that name can't be reached"
            self.hazards.append(
                Hazard(
                    code="U107",
                    severity=Severity.STOP,
                    path=self.source.path,
                    line=site.line,
                    message=message,
                    settle='rename the local first, or give the function another name (name = "…")',
                )
            )
            return
        if head is not named:
            self.touched.add(head.id)
        self.edits.append(Edit(start, self.source.end(named), name.encode()))
