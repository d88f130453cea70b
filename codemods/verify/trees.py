"""The syntax tree of each file of a tree, parsed once and kept with the file set for whoever asks next. As `ast` gives
it: before Python 3.12, positions inside f-strings are wrong. Not to be changed by anybody."""

from __future__ import annotations

import ast

from codemods.source.files import FileSet
from codemods.source.parse import light_tree
from codemods.source.text import Text

_NOTE = "verify trees"


def tree_of(files: FileSet, path: str) -> tuple[Text, ast.Module]:
    """Raises SourceError (Unparsable, NotText) for a file that is no Python."""
    kept = files.notes.setdefault(_NOTE, {})
    assert isinstance(kept, dict)
    found: tuple[Text, ast.Module] | None = kept.get(path)
    if found is None:
        found = kept[path] = light_tree(files, path)
    return found
