"""Which lines of a tree duties ask for: the names, by what is asked of them, and the pattern that finds their lines.

Lets lines through that turn out to be none of those; what a line means is for others to say."""

from __future__ import annotations

import re
from collections.abc import Iterable

from msgspec import Struct

from codemods.verify.store_text import BY_TEXT

ASSIGNS = r"(?:[-+*/|&^%@]|//|\*\*|<<|>>)?=(?!=)"


class Asked(Struct):
    """The names to look for, by what is asked of them."""

    written: set[str] = set()
    defined: set[str] = set()
    said: set[str] = set()
    classes: set[str] = set()

    @property
    def words(self) -> set[str]:
        """What is looked for wherever it stands, with the words by which an attribute is stored whose name is a
        text."""
        return self.classes | self.written | self.said | (BY_TEXT if self.written else frozenset())

    @property
    def only_written(self) -> set[str]:
        """Those of the words that matter only where they may be stored."""
        return self.written - self.said - self.classes - BY_TEXT

    @property
    def alternatives(self) -> str:
        """What lines are looked for by, always from the start of a word: so most places are passed over at once. Lets
        lines through that turn out to be none of ours, and is quick."""
        parts = [r"class[ \t]+\w+[ \t]*[(:]"]
        if self.classes:
            parts.append(rf"{any_of(self.classes)},?[ \t]*$")
        if self.written:
            names = any_of(self.written)
            parts += [
                rf"(?<=\.){names}\b[ \t]*(?::[^=,()]*=|{ASSIGNS}|,[^=()]*\)?[ \t]*=|,?[ \t]*$)",
                rf"(?:for|as|del)[ \t]+[^#=\n]*\.{names}\b|(?<=[\"']){names}[\"']",
                rf"{any_of(BY_TEXT)}\b",
            ]
        if self.defined:
            parts.append(rf"(?:def|class)[ \t]+{any_of(self.defined)}\b|property\(")
        if self.said:
            parts.append(rf"{any_of(self.said)}\b")
        return "|".join(parts)


def any_of(names: Iterable[str]) -> str:
    """A pattern for any of the names."""
    return "(?:" + "|".join(sorted(re.escape(name) for name in names)) + ")"
