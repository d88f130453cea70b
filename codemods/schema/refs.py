"""References to definitions, written `package.module:Class.method`. Parses and prints; never looks into a tree."""

from __future__ import annotations

import re

from msgspec import Struct

from codemods.schema.errors import PlanError

_DOTTED = re.compile(r"[^\W\d]\w*(\.[^\W\d]\w*)*\Z")


class BadReference(PlanError):
    """A text that should name a definition does not have the form MODULE:QUALNAME."""

    code = "bad-reference"


class DefRef(Struct, frozen=True):
    """`module` is a dotted name or a path ending in .py (resolved later against the tree); `qualname` is dotted."""

    module: str
    qualname: str

    @classmethod
    def parse(cls, text: str) -> DefRef:
        """Raises BadReference when `text` is not MODULE:QUALNAME."""
        module, colon, qualname = text.partition(":")
        is_module = module.endswith(".py") or _DOTTED.match(module)
        if not colon or not is_module or not _DOTTED.match(qualname):
            raise BadReference(
                f"{text!r} does not name a definition",
                fix="write package.module:Class.method, package.module:function or path/to/file.py:Class.method",
            )
        return cls(module=module, qualname=qualname)

    @property
    def name(self) -> str:
        return self.qualname.rpartition(".")[2]

    @property
    def owner(self) -> str:
        """Qualname of the enclosing class, or "" for a module-level definition."""
        return self.qualname.rpartition(".")[0]

    def __str__(self) -> str:
        return f"{self.module}:{self.qualname}"
