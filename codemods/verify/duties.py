"""What the kernel can't see in the text: discharged here by facts about the whole tree, or else residue or a finding."""

from __future__ import annotations

from codemods.schema.verdict import Problem
from codemods.verify.change import TreeChange
from codemods.verify.frames import Claims, Duty, Line
from codemods.verify.names import Names


class Duties:
    """Facts about two trees, found when they are asked for."""

    def __init__(self, change: TreeChange, claims: Claims, old: Names, new: Names) -> None:
        self.change, self.claims, self.names = change, claims, (old, new)

    def discharged(self, lines: list[Line], duties: list[Duty]) -> tuple[list[Line], list[Problem]]:
        """The lines with what could not be shown as residue, and what was found out on the way."""
        return lines, []
