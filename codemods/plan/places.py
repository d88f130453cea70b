"""The places of a report in the files that the user has, though later stages and steps look at what earlier ones left.

Where a line was not there before, the report says whose line it is."""

from __future__ import annotations

from msgspec.structs import replace

from codemods.schema.hazards import Hazard, Refusal
from codemods.schema.result import Finding
from codemods.source.files import FileSet
from codemods.source.line_map import LineMap
from codemods.source.modules import modules_of
from codemods.transforms.run import Told


class StepPlaces:
    """For one step. lines: back to the files as the plan found them."""

    def __init__(self, lines: LineMap, number: int, target: str) -> None:
        self._lines, self._number = lines, number
        self._home = modules_of(lines.origin).path_of(target.partition(":")[0]) or ""

    def told(self, files: FileSet, found: Told) -> Told:
        """The same with a place that the reader has. files: the tree that it was found in."""
        if not found.path or not found.line:
            return found
        place = self._lines.back(files, found.path, found.line, moved_from=self._home)
        if place == (found.path, found.line):
            return found
        if place is not None:
            return replace(found, path=place[0], line=place[1])
        if isinstance(found, Finding):
            return replace(found, path="", line=0)  # what was found is true without a place
        assert isinstance(found, (Hazard, Refusal))
        mark = f" (a line that the plan writes, as of step {self._number})"
        return replace(found, message=f"{found.message}{mark}")
