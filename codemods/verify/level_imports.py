"""The imports at the top of files: what an import line is explained by, and what loading modules otherwise may change.

An import is fine when the name it binds is used, or was used and is not any more. Modules that do something when they
are loaded must go on being loaded along with the file, and in the same order."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator

from codemods.schema.verdict import Problem
from codemods.source.nodes import below
from codemods.verify.change import TreeChange
from codemods.verify.frames import Claims, Line, level_frame
from codemods.verify.kernel import Kernel
from codemods.verify.level_loading import Loading, is_for_types, is_harmless
from codemods.verify.level_moments import BUILTINS, missing_at_run_time, readers, used_too_early
from codemods.verify.moments import NEW, OLD
from codemods.verify.names import Names
from codemods.verify.scopes import bindings

Import = ast.Import | ast.ImportFrom
_NO_MODULE = ast.Module([], [])


class ImportLines:
    """Explains the import lines of both sides, file by file."""

    def __init__(self, change: TreeChange, claims: Claims, names: tuple[Names, Names], kernel: Kernel) -> None:
        self.change, self.claims, self.names, self.kernel = change, claims, names, kernel
        self.problems: list[Problem] = []
        apart = claims.changed.union([each.path for each in change.changes], [each.path for each in change.opaque])
        kept: tuple[dict[str, tuple[str, ...]], ...] = ({}, {})
        if names[OLD].modules is names[NEW].modules:
            kept = (kept[OLD], kept[OLD])
        self._loading = tuple(Loading(names[side], claims.changed, apart, kept[side]) for side in (OLD, NEW))
        self._moved = (claims.modules, {after: before for before, after in claims.modules.items()})
        self._early: set[str] | None = None
        self._pending: list[tuple[str, set[tuple[int, int]]]] = []
        self._missing: set[str] | None = None

    def module(self, before: str | None, after: str) -> None:
        """One file that is there on the new side. before: the path it has on the old one."""
        old = self.names[OLD].tree(before) if before else _NO_MODULE
        new = self.names[NEW].tree(after)
        paths = (before or after, after)
        lost = self._lines(OLD, paths, old, _keys(new))
        gained = self._lines(NEW, paths, new, _keys(old))
        if before:
            self._lost(lost, paths, old, new)
            self._gained(gained, paths, new)
            self._order(old, new, paths)
            self._rebound(old, new, paths)
            self._vanished(old, new, after)
        if gained:
            self._pending.append((after, {(node.lineno, node.col_offset) for node, _, _ in gained}))
        self._moments(after, new)

    def cycles(self) -> list[Problem]:
        """Imports of the change that close a cycle (U108). Looks at much of the tree: asked where nothing else is left
        to doubt."""
        known = len(self.problems)
        for path, gained in self._pending:
            self._cycles(gained, path, self.names[NEW].tree(path))
        return self.problems[known:]

    def gone(self, path: str) -> None:
        """A file that is there on the old side only."""
        for node in _imports(self.names[OLD].tree(path)):
            self._mark(OLD, path, node)

    # ---- lines

    def _mark(self, side: int, path: str, node: ast.AST) -> None:
        first, last = node.lineno, node.end_lineno or node.lineno  # type: ignore[attr-defined]
        self.kernel.lines.append(Line(side, path, first, last, "import"))

    def _residue(self, side: int, path: str, node: ast.AST, reason: str, within: int = 0) -> None:
        line = node.lineno  # type: ignore[attr-defined]
        self.kernel.lines.append(Line(side, path, line, line, "residue", reason, "U109", within=within))

    def _lines(
        self, side: int, paths: tuple[str, str], tree: ast.Module, other: set[tuple[str, str, bool]]
    ) -> list[tuple[Import, ast.alias, bool]]:
        """Marks the imports of a side; what the other side has not, and whether its name is read on this side."""
        path = paths[side]
        for node in tree.body:
            if is_for_types(node):
                self.kernel.lines.append(Line(side, path, node.lineno, node.lineno, "import"))
        typed = {id(node) for each in tree.body if is_for_types(each) for node in each.body}  # type: ignore[attr-defined]
        found, read = [], None
        for node in _imports(tree):
            self._mark(side, path, node)
            for alias in node.names:
                if (_module_of(node), ast.dump(alias), id(node) in typed) in other:
                    continue
                name = bound_name(node, alias)
                is_future = isinstance(node, ast.ImportFrom) and node.module == "__future__"
                if is_future and alias.name == "annotations":
                    continue
                if is_future or name == "*":
                    self._residue(side, path, alias, "an import that changes the meaning of others", node.lineno)
                    continue
                read = _loaded(tree) if read is None else read
                is_used = name in read
                if side == NEW and not is_used and not self._stays(paths, name):
                    self._residue(side, path, alias, "nothing uses this import", node.lineno)
                found.append((node, alias, is_used))
        return found

    def _stays(self, paths: tuple[str, str], name: str) -> bool:
        """Whether the file had this name before, for the same thing: what moved away can still be had from here."""
        if paths[OLD] not in self.change.old or name not in self.names[OLD].table(paths[OLD]):
            return False
        refs = [self.kernel.canon[side].reference(name, level_frame(side, paths[side])) for side in (OLD, NEW)]
        return refs[0] == refs[1]

    # ---- what is loaded

    def _lost(
        self, lost: list[tuple[Import, ast.alias, bool]], paths: tuple[str, str], old: ast.Module, new: ast.Module
    ) -> None:
        """Imports that only the old file has: is what they loaded still loaded?"""
        typed = {id(node) for each in old.body if is_for_types(each) for node in each.body}  # type: ignore[attr-defined]
        for node, alias, is_used in lost:
            if id(node) in typed:
                continue
            files = self._loading[OLD].files(paths[OLD], node)
            outside = not files
            if outside and not is_used and not is_harmless(_module_of(node) or alias.name):
                self._residue(OLD, paths[OLD], alias, "an import that only loads a module is gone", node.lineno)
            effect = self._effect(OLD, files, paths)
            if effect is not None:
                self._residue(
                    OLD,
                    paths[OLD],
                    alias,
                    f"{effect} does something when it is loaded, and is not any more",
                    node.lineno,
                )
            whole = alias.name
            is_dotted = isinstance(node, ast.Import) and "." in whole and not alias.asname and whole in _chains(new)
            if is_dotted and (outside or not all(self._loading[NEW].reaches(paths[NEW], each) for each in files)):
                self._residue(OLD, paths[OLD], alias, f"{whole} is still read, and nothing here loads it", node.lineno)

    def _gained(self, gained: list[tuple[Import, ast.alias, bool]], paths: tuple[str, str], new: ast.Module) -> None:
        typed = {id(node) for each in new.body if is_for_types(each) for node in each.body}  # type: ignore[attr-defined]
        for node, alias, _ in gained:
            if id(node) not in typed:
                effect = self._effect(NEW, self._loading[NEW].files(paths[NEW], node), paths)
                if effect is not None:
                    self._residue(
                        NEW, paths[NEW], alias, f"{effect} does something when it is loaded, and was not", node.lineno
                    )

    def _cycles(self, gained: set[tuple[int, int]], path: str, tree: ast.Module) -> None:
        """Imports that lead back to the file before it has bound what is asked of it there. gained: where these are."""
        loading = self._loading[NEW]
        for at, node in enumerate(tree.body):
            if (node.lineno, node.col_offset) not in gained:
                continue
            late = {name for name, _ in bindings(tree.body[at:])} - {name for name, _ in bindings(tree.body[:at])}
            for start in loading.files(path, node):  # type: ignore[arg-type]
                for closer in loading.closers(start, path) if start != path else ():
                    name = next((each for each in self._asked(closer, path) if each in late), None)
                    if name is not None and not self._was_cycle(path, closer):
                        text = f"this import leads to {closer}, which asks for `{name}` of this file before it is there"
                        self.problems.append(Problem(path, node.lineno, "U108", text))

    def _asked(self, path: str, home: str) -> list[str]:
        """The names that loading a file takes from another one."""
        names = self.names[NEW]
        return [
            alias.name
            for node in names.tree(path).body
            if isinstance(node, ast.ImportFrom)
            and names.modules.path_of(names.modules.absolute(path, node.level, node.module), near=path) == home
            for alias in node.names
        ]

    def _was_cycle(self, path: str, closer: str) -> bool:
        loading = self._loading[OLD]
        if path not in self.change.old or closer not in self.change.old:
            return False
        return loading.reaches(path, closer) and path in loading.next(closer)

    def _effect(self, side: int, files: list[str], paths: tuple[str, str]) -> str | None:
        other = 1 - side
        fresh = frozenset(each for each in files if side == NEW and each not in self.change.old)
        for each in files:
            if each != paths[side]:
                found = self._loading[side].effect(each, fresh, paths[other], self._loading[other], self._moved[side])
                if found is not None:
                    return found
        return None

    def _order(self, old: ast.Module, new: ast.Module, paths: tuple[str, str]) -> None:
        """Modules that do something when they are loaded, in the order of the imports."""
        orders = []
        for side, tree in ((OLD, old), (NEW, new)):
            found: dict[str, Import] = {}
            for node in tree.body:
                if isinstance(node, (ast.Import, ast.ImportFrom)):
                    for each in self._loading[side].files(paths[side], node):
                        found.setdefault(each, node)
            orders.append(found)
        common = [[each for each in order if each in orders[1 - side]] for side, order in enumerate(orders)]
        if common[0] == common[1]:
            return
        loud = [list(dict.fromkeys(x for each in order for x in self._loading[NEW].loud(each))) for order in common]
        for was, now in zip(*loud, strict=False):
            if was != now:
                first = next(each for each in common[1] if now in self._loading[NEW].loud(each))
                reason = f"{now} does something when it is loaded, and is loaded in another order"
                self._residue(NEW, paths[NEW], orders[1][first], reason)
                return

    # ---- what a name means when

    def _rebound(self, old: ast.Module, new: ast.Module, paths: tuple[str, str]) -> None:
        """Names that an import and something else bind: the last one counts, so their order must stay."""
        before, after = (self._binders(side, paths[side], tree) for side, tree in ((OLD, old), (NEW, new)))
        for name, (kinds, node) in after.items():
            if len(kinds) > 1 and name in before and before[name][0] != kinds and len(before[name][0]) > 1:
                self._residue(NEW, paths[NEW], node, f"{name} is bound more than once, in another order now")

    def _binders(self, side: int, path: str, tree: ast.Module) -> dict[str, tuple[list[object], ast.stmt]]:
        found: dict[str, tuple[list[object], ast.stmt]] = {}
        for node in tree.body:
            for name in dict.fromkeys(name for name, _ in bindings([node])):
                what: object = type(node).__name__
                if isinstance(node, (ast.Import, ast.ImportFrom)):
                    frame_free = self.names[side].imported(path, node, name)
                    what = self.kernel.canon[side]._comparable(frame_free)
                found.setdefault(name, ([], node))[0].append(what)
                found[name] = (found[name][0], node)
        return found

    def _vanished(self, old: ast.Module, new: ast.Module, path: str) -> None:
        """Names that the module bound and does not bind any more, and still reads."""
        bound = self.names[NEW].table(path)
        gone = {name for name, _ in bindings(old.body)} - bound.keys() - BUILTINS
        if "*" not in bound:
            for name, line in readers(new, self.change.new.read(path), gone).items():
                self.problems.append(
                    Problem(path, line, "U119", f"`{name}` is read here, and nothing binds it any more")
                )

    def _moments(self, path: str, tree: ast.Module) -> None:
        """What loading the module reads before it is there, and what running code reads that is there for type
        checkers only; what was so in the old files is no news."""
        early = used_too_early(tree)
        missing = missing_at_run_time(tree, self.change.new.read(path))
        if early or missing:
            if self._early is None or self._missing is None:
                trees = [
                    (self.names[OLD].tree(each), self.change.old.read(each))
                    for each in self.claims.changed
                    if each in self.change.old
                ]
                self._early = {name for each, _ in trees for name in used_too_early(each)}
                self._missing = {name for each, raw in trees for name in missing_at_run_time(each, raw)}
            for name, line in early.items():
                if name not in self._early:
                    text = f"`{name}` is used while the module is loaded, before it is bound"
                    self.problems.append(Problem(path, line, "U107", text))
            for name, line in missing.items():
                if name not in self._missing:
                    text = f"`{name}` is read when the program runs, and is imported for type checkers only"
                    self.problems.append(Problem(path, line, "U107", text))


def bound_name(node: Import, alias: ast.alias) -> str:
    """The name that one part of an import binds."""
    return alias.asname or (alias.name.partition(".")[0] if isinstance(node, ast.Import) else alias.name)


def _keys(tree: ast.Module) -> set[tuple[str, str, bool]]:
    typed = {id(node) for each in tree.body if is_for_types(each) for node in each.body}  # type: ignore[attr-defined]
    return {(_module_of(n), ast.dump(alias), id(n) in typed) for n in _imports(tree) for alias in n.names}


def _imports(tree: ast.Module) -> Iterator[Import]:
    todo: list[ast.stmt] = list(tree.body)
    for node in todo:
        if isinstance(node, (ast.Import, ast.ImportFrom)):
            yield node
        elif is_for_types(node):
            todo += node.body  # type: ignore[attr-defined]


def _module_of(node: Import) -> str:
    return "" if isinstance(node, ast.Import) else "." * node.level + (node.module or "")


def _loaded(tree: ast.Module) -> set[str]:
    """Names a file reads, also in annotations that are text and in `__all__`."""
    found: set[str] = set()
    for node in below(tree):
        if isinstance(node, ast.Name):
            found.add(node.id)
        elif isinstance(node, ast.Constant) and isinstance(node.value, str) and len(node.value) < 200:
            found.update(re.findall(r"[^\W\d]\w*", node.value))
    return found


def _chains(tree: ast.Module) -> set[str]:
    """Dotted texts a file reads, with all their beginnings."""
    found: set[str] = set()
    for node in below(tree):
        if isinstance(node, ast.Attribute):
            text = ast.unparse(node)
            if re.fullmatch(r"[\w.]+", text):
                found.add(text)
    return found
