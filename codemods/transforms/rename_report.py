"""What the renaming transforms share: hazards at a place, and edits of many files applied at once."""

from __future__ import annotations

from collections.abc import Iterable

from codemods.schema.hazards import Hazard, Refusal, Severity
from codemods.source.files import FileSet
from codemods.source.parse import Source
from codemods.source.splice import Edit, apply_edits
from codemods.source.text import Text

_SHOWN = 12  # places of one kind that are listed one by one


def hazard(code: str, severity: Severity, path: str, line: int, message: str, settle: str) -> Hazard:
    return Hazard(code=code, severity=severity, path=path, line=line, message=message, settle=settle)


def stop(code: str, source: Source, offset: int, message: str, settle: str) -> Hazard:
    """A STOP at an offset of a file."""
    return hazard(code, Severity.STOP, source.path, source.text.line_of(offset), message, settle)


def note(code: str, source: Source, offset: int, message: str, settle: str) -> Hazard:
    return hazard(code, Severity.NOTE, source.path, source.text.line_of(offset), message, settle)


def refusal(code: str, path: str, line: int, message: str, settle: str) -> Refusal:
    return Refusal(code=code, path=path, line=line, message=message, settle=settle)


def shortened(found: Iterable[Hazard]) -> list[Hazard]:
    """Hazards without repetition; of many with one code and severity the first ones, the last of them telling how many
    follow."""
    by_code: dict[tuple[str, Severity], list[Hazard]] = {}
    for each in dict.fromkeys(found):
        by_code.setdefault((each.code, each.severity), []).append(each)
    kept: list[Hazard] = []
    for same in by_code.values():
        kept.extend(same[:_SHOWN])
        if len(same) > _SHOWN:
            last = kept[-1]
            rest = len(same) - _SHOWN
            message = f"{last.message} (and {rest} more places like this)"
            kept[-1] = hazard(last.code, last.severity, last.path, last.line, message, last.settle)
    return kept


class Edits:
    """Edits by file, collected from several sides; equal edits count once."""

    def __init__(self, files: FileSet) -> None:
        self.files = files
        self._by_path: dict[str, dict[Edit, None]] = {}

    def add(self, source: Source, edits: Iterable[Edit]) -> None:
        self.add_to(source.path, edits)

    def add_to(self, path: str, edits: Iterable[Edit]) -> None:
        self._by_path.setdefault(path, {}).update(dict.fromkeys(edits))

    @property
    def paths(self) -> list[str]:
        return sorted(path for path, edits in self._by_path.items() if edits)

    def of(self, path: str) -> list[Edit]:
        return list(self._by_path.get(path, {}))

    def touches(self, path: str, start: int, end: int) -> bool:
        """Whether some edit changes text between the two offsets."""
        return any(edit.start < end and start < edit.end for edit in self._by_path.get(path, ()))

    def forget(self, path: str, start: int, end: int) -> None:
        """Leave out the edits inside of a text that goes as a whole."""
        kept = {edit: None for edit in self.of(path) if not (start <= edit.start and edit.end <= end)}
        self._by_path[path] = kept

    def new_raw(self, path: str) -> bytes:
        """The file's new bytes: Python text in its own encoding, a document byte for byte."""
        raw = self.files.read(path)
        if not path.endswith((".py", ".pyi")):
            return apply_edits(raw, self.of(path))
        text = Text(path, raw)
        return text.encode(apply_edits(text.body, self.of(path)))

    def applied(self) -> FileSet:
        files = self.files
        for path in self.paths:
            files = files.write(path, self.new_raw(path))
        return files
