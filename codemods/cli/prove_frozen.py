"""A few old files against the tree that is worked on: what of the two is a change. Files that only the tree has are
part of it where the new side of a pair stands or is imported from; the others are not, and are not read."""

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
    old, new = trees.files(names[0]), trees.files(names[1])
    dotted = tuple(with_dotted_names(pair, old, new) for pair in pairs)
    changed = {path for path in old.paths() if path not in new or old.read(path) != new.read(path)}
    changed |= {path for path in _near(dotted, new) if path not in old}
    return Change("", old, new, tuple(sorted(changed)), dotted, old_name=names[0], new_name=names[1])


def _near(pairs: Iterable[Pair], new: FileSet) -> Iterator[str]:
    """The modules of the new sides, and those that they import."""
    modules = modules_of(new)
    for module in sorted({pair.new.partition(":")[0] for pair in pairs}):
        path = modules.path_of(module)
        if path is None:
            continue
        yield path
        for name in _imported(path, new):
            found = modules.path_of(name)
            if found is not None:
                yield found


def _imported(path: str, new: FileSet) -> Iterator[str]:
    """Dotted names that may be modules; none of a file that can't be parsed: who proves it has the words for that."""
    try:
        tree = ast.parse(new.read(path))
    except (SyntaxError, ValueError):
        return
    modules = modules_of(new)
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            base = modules.absolute(path, node.level, node.module)
            yield base
            yield from (f"{base}.{alias.name}" for alias in node.names)
