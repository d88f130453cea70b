"""Values that a module or a class binds: those that moved, those that every module may make for itself, those whose
place in the file can't matter, and the fields of data classes.

A value that is made by a call, or read from what may change, belongs to its place and is compared in order."""

from __future__ import annotations

import ast
from collections.abc import Iterator

from codemods.source.import_effects import is_inert_value
from codemods.source.nodes import below, walk
from codemods.verify.change import TreeChange
from codemods.verify.frames import Claims, Frame, Line, level_frame
from codemods.verify.kernel import Kernel
from codemods.verify.level_loading import Loading
from codemods.verify.moments import NEW, OLD
from codemods.verify.names import Definition, Names

Assign = ast.Assign | ast.AnnAssign


class ValueLines:
    """`apart`: the values that are compared here, as (side, path, name), and need not be compared in order."""

    def __init__(self, change: TreeChange, claims: Claims, names: tuple[Names, Names], kernel: Kernel) -> None:
        self.change, self.claims, self.names, self.kernel = change, claims, names, kernel
        self._loading = Loading(names[NEW])
        self.apart: set[tuple[int, str, str]] = set()
        self._back = {after: before for before, after in claims.pairs.items()}
        self._homes = {after: before for before, after in claims.modules.items()}

    def run(self) -> None:
        """Compares what moved and what may stand anywhere, in all changed files."""
        known = self._repeatable()
        canon = self.kernel.canon[NEW]
        for path in sorted(self.claims.changed):
            if path not in self.change.new:
                continue
            home = self._homes.get(path, path)
            for name, node in self.names[NEW].definitions(path).items():
                if not isinstance(node, (ast.Assign, ast.AnnAssign)) or "." in name:
                    continue
                same = canon.repeatable(("top", path, name))
                was = self._back.get((path, name))
                is_new = not self.names[OLD].has((home, name))
                if was is not None and was[0] != home and not self._stays(was):
                    self._moved(was, (path, name))
                elif same is not None and is_new and same in known and was is None:
                    self.apart.add((NEW, path, name))
                    self._line(NEW, path, node, "support")
                else:
                    self._anywhere(was or (home, name), (path, name))

    def _stays(self, was: Definition) -> bool:
        """Whether the old file still has a value of that name: then the other one is a second."""
        path = self.claims.modules.get(was[0], was[0])
        return self.names[NEW].has((path, was[1]))

    def _node(self, side: int, definition: Definition) -> Assign | None:
        node = self.names[side].definitions(definition[0]).get(definition[1]) if definition[1] else None
        return node if isinstance(node, (ast.Assign, ast.AnnAssign)) else None

    def _line(self, side: int, path: str, node: ast.stmt, kind: str) -> None:
        self.kernel.lines.append(Line(side, path, node.lineno, node.end_lineno or node.lineno, kind))

    def _residue(self, side: int, path: str, node: ast.stmt, reason: str, code: str) -> None:
        last = node.end_lineno or node.lineno
        self.kernel.lines.append(Line(side, path, node.lineno, last, "residue", reason, code))

    # ---- moved

    def _moved(self, was: Definition, now: Definition) -> None:
        before, node = self._node(OLD, was), self._node(NEW, now)
        if before is None or node is None or before.value is None or node.value is None or _targets(node) != 1:
            return
        self.apart |= {(OLD, *was), (NEW, *now)}
        self._line(OLD, was[0], before, "move")
        self._line(NEW, now[0], node, "move")
        if not self._is_timeless(node.value, now[0]):
            self._residue(NEW, now[0], node, "made when another module is loaded", "U109")
        same_apart(self.kernel, before.value, level_frame(OLD, was[0]), node.value, level_frame(NEW, now[0]))
        if len(self.names[NEW].table(now[0]).get(now[1], ())) > 1:
            self._copies(was, now)

    def _copies(self, was: Definition, now: Definition) -> None:
        """A name that is bound again later: whoever imports it by name keeps the first value."""
        for path in sorted(self.claims.changed):
            if path not in self.change.new or path == now[0]:
                continue
            for node in below(self.names[NEW].tree(path)):
                if not isinstance(node, ast.ImportFrom):
                    continue
                for alias in node.names:
                    name = alias.asname or alias.name
                    if alias.name == now[1] and self.names[NEW].imported(path, node, name) == ("top", *now):
                        reason = f"`{name}` is bound again later, and this import keeps its first value"
                        if not self._had_copy(path, was):
                            self._residue(NEW, path, node, reason, "U107")

    def _had_copy(self, path: str, was: Definition) -> bool:
        if path not in self.change.old or path == was[0]:
            return False
        return any(
            isinstance(node, ast.ImportFrom) and any(alias.name == was[1] for alias in node.names)
            for node in below(self.names[OLD].tree(path))
        )

    def _is_timeless(self, node: ast.expr, path: str) -> bool:
        """Whether evaluating it earlier or later makes no difference."""
        if self._loading.is_question(path, node):
            return True
        if not is_inert_value(node):
            return False
        for each in walk(node):
            if isinstance(each, ast.Subscript) and not _is_type(each):
                return False
            if isinstance(each, ast.Attribute) and isinstance(each.value, ast.Name):
                ref = self.names[NEW].resolve(path, each.value.id)
                if ref[0] not in ("ext", "mod") and not self._is_class(ref):
                    return False
        return True

    def _is_class(self, ref: tuple[str, ...]) -> bool:
        return ref[0] == "top" and isinstance(self.names[NEW].definitions(ref[1]).get(ref[2]), ast.ClassDef)

    def _repeatable(self) -> set[tuple[str, ...]]:
        """What the old files had of values that every module may make for itself."""
        canon = self.kernel.canon[OLD]
        return {
            same
            for path in self.claims.changed
            if path in self.change.old
            for name in self.names[OLD].definitions(path)
            if (same := canon.repeatable(("top", path, name))) is not None
        }

    # ---- where it stands does not matter

    def _anywhere(self, was: Definition, now: Definition) -> None:
        """A plain value bound once on both sides may stand anywhere in its file."""
        if not self.names[OLD].has(was) or was[0] != self._homes.get(now[0], now[0]):
            return
        before, node = self._node(OLD, was), self._node(NEW, now)
        if before is None or node is None or before.value is None or node.value is None:
            return
        if not (_is_plain(before.value) and _is_plain(node.value)) or _targets(before) != 1 or _targets(node) != 1:
            return
        if any(
            len(names.table(each[0]).get(each[1], ())) != 1 for names, each in zip(self.names, (was, now), strict=True)
        ):
            return
        self.apart |= {(OLD, *was), (NEW, *now)}
        kind = "rename" if was[1] != now[1] else "format"
        self._line(OLD, was[0], before, kind)
        self._line(NEW, now[0], node, kind)
        same_apart(self.kernel, before.value, level_frame(OLD, was[0]), node.value, level_frame(NEW, now[0]))

    # ---- fields

    def slots(self, was: ast.ClassDef, fo: Frame, node: ast.ClassDef, fn: Frame) -> None:
        """`__slots__` and the like name attributes: they follow when those are renamed, and must."""
        for name in ("__slots__", "__match_args__"):
            before, after = _listed(was, name), _listed(node, name)
            if before is None or after is None:
                continue
            renamed = self.claims.attributes
            for new, old in renamed.items():
                if name == "__slots__" and old in before[1] and new not in after[1] and old in after[1]:
                    self._residue(NEW, fn.path, after[0], f"`{old}` is `{new}` now, and has no slot", "U119")
            if [renamed.get(each, each) for each in after[1]] == before[1]:
                self.apart |= {(OLD, fo.path, f"{fo.title}.{name}"), (NEW, fn.path, f"{fn.title}.{name}")}
                self._line(OLD, fo.path, before[0], "rename")
                self._line(NEW, fn.path, after[0], "rename")

    def _renamed_field(self, before: ast.AnnAssign, fo: Frame, node: ast.AnnAssign, fn: Frame) -> None:
        """A field that stands where it stood, under another name."""
        for side, each, frame in ((OLD, before, fo), (NEW, node, fn)):
            self.apart.add((side, frame.path, f"{frame.title}.{ast.unparse(each.target)}"))
            self._line(side, frame.path, each, "rename")
        if before.value is not None and node.value is not None:
            same_apart(self.kernel, before.value, level_frame(OLD, fo.path), node.value, level_frame(NEW, fn.path))
        elif before.value is not node.value:
            self._residue(NEW, fn.path, node, "has another default", "")

    def fields(self, was: ast.ClassDef, fo: Frame, node: ast.ClassDef, fn: Frame) -> None:
        """Annotations in the body of a class that somebody may make fields of."""
        if not (node.decorator_list or node.bases or node.keywords):
            return
        before, after = _annotated(was), _annotated(node)
        frames = level_frame(OLD, fo.path), level_frame(NEW, fn.path)
        places = [list(before), list(after)]
        kept = [[each for each in places[OLD] if each in after], [each for each in places[NEW] if each in before]]
        if kept[OLD] != kept[NEW]:
            self._residue(NEW, fn.path, after[kept[NEW][0]], "fields changed their order", "")
        for name, each in after.items():
            older = self.claims.attributes.get(name, name)
            other = before.get(older)
            if other is not None and older != name and places[OLD].index(older) == places[NEW].index(name):
                self._renamed_field(other, fo, each, fn)
            if other is None:
                if any(name == plain for plain in _plain_targets(was)):
                    self._residue(NEW, fn.path, each, "annotated now, and was not", "")
            elif other.simple != each.simple:
                self._residue(NEW, fn.path, each, "a name in parentheses has no annotation", "")
            else:
                same_apart(self.kernel, other.annotation, frames[OLD], each.annotation, frames[NEW])
        for statement in node.body:
            for name in _names_of(statement):
                if name in before and name not in after:
                    self._residue(NEW, fn.path, statement, "lost its annotation", "")


def same_apart(kernel: Kernel, o: ast.expr, fo: Frame, n: ast.expr, fn: Frame) -> bool:
    """Compares two expressions that have nothing before them."""
    kernel.level((), ())
    return kernel.same(o, fo, n, fn)


def _listed(node: ast.ClassDef, name: str) -> tuple[ast.Assign, list[str]] | None:
    """The statement that binds a tuple or list of names in a class body, and the names."""
    for each in node.body:
        if isinstance(each, ast.Assign) and name in _names_of(each) and isinstance(each.value, (ast.Tuple, ast.List)):
            parts = [part.value for part in each.value.elts if isinstance(part, ast.Constant)]
            if len(parts) == len(each.value.elts):
                return each, [str(part) for part in parts]
    return None


def _annotated(node: ast.ClassDef) -> dict[str, ast.AnnAssign]:
    return {
        each.target.id: each
        for each in node.body
        if isinstance(each, ast.AnnAssign) and isinstance(each.target, ast.Name)
    }


def _plain_targets(node: ast.ClassDef) -> Iterator[str]:
    for each in node.body:
        yield from _names_of(each)


def _names_of(node: ast.stmt) -> Iterator[str]:
    if isinstance(node, ast.Assign):
        yield from (each.id for each in node.targets if isinstance(each, ast.Name))


def _targets(node: Assign) -> int:
    return len(node.targets) if isinstance(node, ast.Assign) else 1


def _is_type(node: ast.Subscript) -> bool:
    """`dict[str, int]`: a type, not a look-up."""
    return isinstance(node.value, (ast.Name, ast.Attribute)) and ast.unparse(node.value).rpartition(".")[2] in _GENERIC


_GENERIC_NAMES = """
    dict list set tuple frozenset type Dict List Set Tuple FrozenSet Type Optional Union Callable Literal Any
    Iterable Iterator Sequence Mapping MutableMapping Annotated deque defaultdict OrderedDict Counter ClassVar Final
"""
_GENERIC = frozenset(_GENERIC_NAMES.split())


def _is_plain(node: ast.expr) -> bool:
    """Constants and displays of constants."""
    if isinstance(node, (ast.Tuple, ast.List, ast.Set)):
        return all(_is_plain(each) for each in node.elts)
    if isinstance(node, ast.Dict):
        return all(each is not None and _is_plain(each) for each in [*node.keys, *node.values])
    if isinstance(node, ast.UnaryOp):
        return _is_plain(node.operand)
    if isinstance(node, ast.BinOp):
        return _is_plain(node.left) and _is_plain(node.right)
    return isinstance(node, ast.Constant)
