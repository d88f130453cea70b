"""A few old files against the tree that is worked on: what of the two is a change. The old files lie over the tree, so
that whatever else the code uses is one thing on both sides; modules that only the new side reaches are what the old
code has become, and part of the change."""

from __future__ import annotations

import ast
from collections.abc import Iterable, Iterator, Sequence

from codemods.cli.prove_derived import Change
from codemods.cli.prove_trees import GIT, PLAN, Trees, with_dotted_names
from codemods.schema.prove import Pair
from codemods.source.files import FileSet
from codemods.source.modules import modules_of


def is_partial(names: tuple[str, str]) -> bool:
    """Whether the old tree is a directory beside the root, as golden/originals is."""
    old, new = names
    return bool(old) and not new and not old.startswith((GIT, PLAN))


def partial_change(trees: Trees, pairs: Sequence[Pair], names: tuple[str, str]) -> Change:
    """names: of both trees. The pairs, with modules that are named as files named as modules."""
    kept, new = trees.files(names[0]), trees.files(names[1])
    old = new
    for path in kept.paths():
        old = old.write(path, kept.read(path))
    dotted = tuple(with_dotted_names(pair, old, new) for pair in pairs)
    changed = {path for path in kept.paths() if path not in new or kept.read(path) != new.read(path)}
    changed |= _reached_anew(dotted, kept, new)
    return Change("", old, new, tuple(sorted(changed)), dotted, old_name=names[0], new_name=names[1])


def _reached_anew(pairs: Iterable[Pair], kept: FileSet, new: FileSet) -> set[str]:
    """The modules that the new sides import, at any depth, and no old file does."""
    modules = modules_of(new)
    old_modules = {path for pair in pairs if (path := modules.path_of(pair.old.partition(":")[0])) is not None}
    known = {*kept.paths(), *old_modules}
    for path in kept.paths():
        known |= _imported(path, kept, new)
    found: set[str] = set()
    starts = {modules.path_of(pair.new.partition(":")[0]) for pair in pairs} | set(kept.paths())
    waiting = sorted(path for path in starts if path is not None and path in new)
    while waiting:
        path = waiting.pop()
        if path not in known:
            found.add(path)
        fresh = _imported(path, new, new) - known - found
        found |= fresh
        waiting += sorted(fresh)
    return found


def _imported(path: str, files: FileSet, new: FileSet) -> set[str]:
    """The modules of the tree that a file imports; none of a file that can't be parsed: who proves it has the words for
    that."""
    try:
        tree = ast.parse(files.read(path))
    except (SyntaxError, ValueError):
        return set()
    modules = modules_of(new)
    found = (modules.path_of(name) for name in _names(tree, path, new))
    return {each for each in found if each is not None}


def _names(tree: ast.AST, path: str, new: FileSet) -> Iterator[str]:
    """Dotted names that may be modules."""
    modules = modules_of(new)
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            base = modules.absolute(path, node.level, node.module)
            yield base
            yield from (f"{base}.{alias.name}" for alias in node.names)
