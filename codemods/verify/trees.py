"""The syntax tree of each file of a tree, parsed once and kept with the file set for whoever asks next. As `ast` gives
it: before Python 3.12, positions inside f-strings are wrong. Not to be changed by anybody."""

from __future__ import annotations

import ast

from codemods.source.files import FileSet
from codemods.source.parse import TREES, light_tree
from codemods.source.text import Text

# Of text; a tree takes about 100 times that. Beyond it, files are parsed again, which large commits have time for.
KEEP_BYTES = 1_500_000
_NOTE = "verify trees"


class _Kept:
    def __init__(self, files: FileSet) -> None:
        self.trees: dict[str, tuple[Text, ast.Module]] = {}
        self.num_bytes = 0
        files.notes[TREES] = self.trees  # for `light_tree`, which others ask


def tree_of(files: FileSet, path: str) -> tuple[Text, ast.Module]:
    """Raises SourceError (Unparsable, NotText) for a file that is no Python."""
    kept = files.notes.get(_NOTE)
    if not isinstance(kept, _Kept):
        kept = files.notes[_NOTE] = _Kept(files)
    found = kept.trees.get(path)
    if found is None:
        found = light_tree(files, path)
        kept.num_bytes += len(found[0].raw)
        if kept.num_bytes <= KEEP_BYTES:
            kept.trees[path] = found
    return found
