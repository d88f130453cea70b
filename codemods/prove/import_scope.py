"""Which modules of a tree an import really executes. All that is imported in the end, while those are few; of many,
those that reach what changed, and those that only one side imports. The others are the same on both sides, and
opaque."""

from __future__ import annotations

from msgspec import Struct

from codemods.prove.sides import Side
from codemods.prove.stable import Twins
from codemods.source.import_graph import imported_files

_FEW = 60
_MANY = 400


class Scope(Struct, frozen=True):
    """opaque: modules that are not executed. is_cut: there are more that would have to be."""

    opaque: frozenset[str] = frozenset()
    is_cut: bool = False

    def is_real(self, module: str) -> bool:
        return module not in self.opaque


def scope_of(twins: Twins, old: str, new: str) -> Scope:
    """For importing a module first on each side."""
    before, after = _reached(twins.old, old), _reached(twins.new, new)
    everything = {*before, *after}
    if len(everything) <= _FEW:
        return Scope()
    wanted = {path for path in everything if path in twins.changed or (path in before) != (path in after)}
    for graph in (before, after):
        wanted |= _reaching(graph, wanted)
    start = {twins.old.modules.path_of(old), twins.new.modules.path_of(new)}
    kept = {path for path in everything if path in wanted or path in start}
    if len(kept) > _MANY:
        kept = set(sorted(kept, key=lambda path: (path not in twins.changed, path not in start, path))[:_MANY])
        is_cut = True
    else:
        is_cut = False
    opaque = frozenset(
        side.modules.module_of(path)
        for side in (twins.old, twins.new)
        for path in everything - kept
        if path in side.files
    )
    return Scope(opaque, is_cut)


def _reached(side: Side, module: str) -> dict[str, tuple[str, ...]]:
    """Every file that importing a module imports in the end, with what each imports."""
    start = side.modules.path_of(module)
    found: dict[str, tuple[str, ...]] = {}
    pending = [start] if start is not None and start.endswith(".py") else []
    while pending:
        path = pending.pop()
        if path not in found:
            found[path] = tuple(each for each in imported_files(side.files, path) if each.endswith(".py"))
            pending.extend(found[path])
    return found


def _reaching(graph: dict[str, tuple[str, ...]], wanted: set[str]) -> set[str]:
    """The files that import one of these in the end."""
    before: dict[str, list[str]] = {}
    for path, others in graph.items():
        for other in others:
            before.setdefault(other, []).append(path)
    found: set[str] = set()
    pending = [path for path in wanted if path in graph]
    while pending:
        path = pending.pop()
        for each in before.get(path, ()):
            if each not in found:
                found.add(each)
                pending.append(each)
    return found
