"""Puts the edits of a move into the files, and mends the blank lines where several edits met."""

from __future__ import annotations

import re
from collections.abc import Mapping

from codemods.source.files import FileSet
from codemods.source.parse import Source, Unparsable, load
from codemods.source.splice import Edit, apply_edits, frozen_spans
from codemods.transforms.adjust_imports import Importer

_MANY_BLANKS = re.compile(rb"(?m)(?<=\n)(?:[ \t]*\r?\n){3,}")


def written(
    files: FileSet, edits: Mapping[str, list[Edit]], importers: Mapping[str, Importer], ends: tuple[str, str]
) -> FileSet:
    """The files with all edits applied. ends: source and target, from which text went and to which it came.

    Raises NotText when a file's encoding lacks a character of the new text."""
    source_path = ends[0]
    result = files
    for path in dict.fromkeys([*importers, *edits]):
        source = load(files, path)
        imports = importers[path].edits() if path in importers else []
        # imports stand above whatever else goes to the same place
        body = apply_edits(source.body, dict.fromkeys([*imports, *edits.get(path, [])]))
        if path == source_path:
            body = as_it_ended(source.body, body, source.text.newline)
        result = result.write(path, source.text.encode(body))
        if path in ends:
            result = _squeezed(result, source)
    return result


def _squeezed(files: FileSet, old: Source) -> FileSet:
    """At most two blank lines in a row where the old file had not as many at that place."""
    try:
        new = load(files, old.path)
    except Unparsable:
        return files  # selfcheck.py says so
    body = new.body
    edits = []
    frozen: list[tuple[int, int]] | None = None
    for match in _MANY_BLANKS.finditer(body):
        above, below = _line_before(body, match.start()), body[match.end() : new.text.line_end(match.end())]
        if not below.strip() or above + match.group() + below in old.body:
            continue
        frozen = frozen_spans(new, 0, len(body)) if frozen is None else frozen
        if not any(start < match.start() < end for start, end in frozen):
            edits.append(Edit(match.start(), match.end(), new.text.newline * 2))
    return files.write(old.path, new.text.encode(apply_edits(body, edits))) if edits else files


def _line_before(body: bytes, at: int) -> bytes:
    return body[body.rfind(b"\n", 0, max(0, at - 1)) + 1 : at]


def as_it_ended(old: bytes, new: bytes, newline: bytes) -> bytes:
    """The new text without blank lines at its end that the old one did not have, or a newline where it had none."""
    trimmed = new.rstrip(b" \t\r\n")
    is_same = old[len(old.rstrip(b"\r\n")) :] == new[len(new.rstrip(b"\r\n")) :]
    if not trimmed or is_same or trimmed.endswith(b"\\"):
        return new if trimmed else b""
    return trimmed + (newline if old.endswith((b"\n", b"\r")) else b"")
