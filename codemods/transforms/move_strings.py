"""Strings around a move: those that name the definition, patches of the names it reads, names of loggers.

What a string means and what it becomes is repath_strings.py's; here is only which ones a move asks about."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Literal

from codemods.schema.hazards import Hazard, Severity
from codemods.source.files import FileSet
from codemods.source.index import mentioning
from codemods.source.strings import mentions
from codemods.transforms.move_block import Piece
from codemods.transforms.move_imports import Supply
from codemods.transforms.move_needs import Block
from codemods.transforms.repath_strings import Repath, repath, repath_reads

Mode = Literal["rewrite", "keep"]
_QUOTED = re.compile(rb"['\"]([\w.]+)['\"]")
_PATCHERS = ("patch", "setattr", "delattr", "mocker")


def repathed(
    before: FileSet,
    after: FileSet,
    pieces: list[Piece],
    old_module: str,
    module: str,
    reads: Mapping[str, Mapping[str, str]],
    mode: Mode,
) -> tuple[FileSet, list[Repath]]:
    """The files with strings pointed at the new place. reads: module that is asked from now -> name -> its text."""
    files = after
    results: list[Repath] = []
    for piece in pieces:
        found = repath(files, (old_module, piece.ref.qualname), (module, piece.name), mode=mode, before=before)
        files = found.applied(files)
        results.append(found)
    quoted = _quoted_words(before, old_module)
    for home, names in reads.items():
        wanted = {name: text for name, text in names.items() if name.encode() in quoted}
        if wanted:
            found = repath_reads(files, old_module, wanted, home, mode=mode, before=before)
            files = found.applied(files)
            results.append(found)
    return files, results


def _quoted_words(files: FileSet, module: str) -> set[bytes]:
    """Words in quotes in the files that could patch a name of the module."""
    leaf = module.rpartition(".")[2]
    paths = {path for word in _PATCHERS for path in mentioning(files, leaf, word)}
    return {word for path in paths for text in _QUOTED.findall(files.read(path)) for word in text.split(b".")}


def logger_hazards(files: FileSet, old_module: str, module: str) -> list[Hazard]:
    """Code and settings that name the old module's logger, from which the moved code's records no longer come."""
    literal = re.compile(rb"['\"]" + re.escape(old_module.encode()) + rb"['\"]")
    paths = mentioning(files, old_module.rpartition(".")[2])
    if not any(literal.search(files.read(path)) for path in paths):
        return []
    found = []
    for each in mentions(files, old_module, ""):
        if each.kind == "logger":
            message = f"this names logger {old_module!r}; the records of what moves come from {module!r} now"
            settle = f"name {module!r} as well, or accept U110 when its records don't matter here"
            found.append(
                Hazard(
                    code="U110", severity=Severity.STOP, path=each.path, line=each.line, message=message, settle=settle
                )
            )
    return found


def reads_by_home(blocks: list[Block], supply: Supply, module: str) -> dict[str, dict[str, str]]:
    """What the moved code reads at run time, by the module through which it does so: name -> how it spells it there.

    Names that it still reads through the old module are left out: a patch of the old place still reaches them."""
    found: dict[str, dict[str, str]] = {}
    names = {name.name for block in blocks for name in block.names}
    for name in sorted(names.union(*(block.builtins for block in blocks))):
        home = supply.homes.get(name, module)
        if home:
            found.setdefault(home, {})[name] = supply.renames.get(name, name)
    return found
