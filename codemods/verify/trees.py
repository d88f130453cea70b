"""The syntax tree of each file of a tree, kept with the file set for whoever asks next, as far as KEEP_BYTES goes. As
`ast` gives it: before Python 3.12, positions inside f-strings are wrong. Not to be changed by anybody.

A tree that was let go is parsed again when it is asked for: its nodes are others then, equal and at the same places. So
who has to know a node again keeps the node, or its place, and not its `id`."""

from __future__ import annotations

import ast

from codemods.source.files import FileSet
from codemods.source.parse import TREES, light_tree
from codemods.source.text import Text

# Of text, for each of the two trees of a change; a syntax tree takes 30 to 40 times that. The first that came go first:
# files are gone through in order again and again, and then no other rule keeps more.
KEEP_BYTES = 2_500_000
_NOTE = "verify trees"


class Facts:
    """What somebody found out of one syntax tree and its text; let go along with the tree, whose nodes it holds."""

    def __init__(self, tree: ast.Module) -> None:
        self.tree = tree
        self.definitions: dict[str, ast.stmt] | None = None
        self.lines: list[bytes] | None = None


class Trees:
    """Of one file set. facts: of the files whose trees are kept, for the one who finds them."""

    def __init__(self, files: FileSet) -> None:
        self.files = files
        self.trees: dict[str, tuple[Text, ast.Module]] = {}
        self.facts: dict[str, Facts] = {}
        self._num_bytes = 0
        files.notes[TREES] = self.trees  # for `light_tree`, which others ask

    def of(self, path: str) -> tuple[Text, ast.Module]:
        found = self.trees.get(path)
        if found is None:
            found = self.trees[path] = light_tree(self.files, path)
            self._num_bytes += len(found[0].raw)
            while self._num_bytes > KEEP_BYTES and len(self.trees) > 1:
                self._let_go(next(iter(self.trees)))
        return found

    def facts_of(self, path: str) -> Facts:
        found = self.facts.get(path)
        if found is None:
            tree = self.of(path)[1]
            found = self.facts[path] = Facts(tree)
        return found

    def _let_go(self, path: str) -> None:
        self._num_bytes -= len(self.trees.pop(path)[0].raw)
        self.facts.pop(path, None)


def trees_of(files: FileSet) -> Trees:
    """The trees that are kept with a file set."""
    kept = files.notes.get(_NOTE)
    if not isinstance(kept, Trees):
        kept = files.notes[_NOTE] = Trees(files)
    return kept


def tree_of(files: FileSet, path: str) -> tuple[Text, ast.Module]:
    """Raises SourceError (Unparsable, NotText) for a file that is no Python."""
    return trees_of(files).of(path)
