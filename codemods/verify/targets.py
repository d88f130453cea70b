"""What two assignments store: one value on both sides, into places that correspond."""

from __future__ import annotations

import ast

from codemods.verify.expressions import Expressions
from codemods.verify.frames import Frame, Line
from codemods.verify.moments import Late, Value


class Targets(Expressions):
    """Compares targets. An attribute that the new side keeps in a local for now is late."""

    def _bind(self, o: ast.expr, fo: Frame, n: ast.expr, fn: Frame, value: Value) -> bool:
        """Both sides store one value."""
        if isinstance(o, (ast.Tuple, ast.List)) and isinstance(n, (ast.Tuple, ast.List)):
            if len(o.elts) != len(n.elts):
                return self._differ(o, fo, n, fn)
            good = True
            self._doubts += 1
            for number, (x, y) in enumerate(zip(o.elts, n.elts, strict=True)):
                good &= self._bind(x, fo, y, fn, self._part(value, number))
            return good
        if isinstance(o, ast.Starred) and isinstance(n, ast.Starred):
            return self._bind(o.value, fo, n.value, fn, self._new())
        if isinstance(o, ast.Subscript) and isinstance(n, ast.Subscript):
            self._effects += 1
            good = self.same(o.value, fo, n.value, fn) & self.same(o.slice, fo, n.slice, fn)
            self._operate(o, fo)
            return good
        if isinstance(n, ast.Name) and isinstance(o, (ast.Tuple, ast.List)) and fn.is_inlined:
            self._store(n, fn, value)
            self._spread(o, fo, value)
            return True
        if isinstance(o, ast.Attribute) and isinstance(n, ast.Attribute):
            return self._bind_attribute(o, fo, n, fn, value)
        if not isinstance(o, (ast.Name, ast.Attribute)) or not isinstance(n, ast.Name):
            return self._differ(o, fo, n, fn)
        if isinstance(o, ast.Name):
            in_class = all(frame.function is None and frame.title and frame.home(o.id) is None for frame in (fo, fn))
            same = o.id == n.id if in_class else self._global(o.id, fo) == self._global(n.id, fn)
            if not same:
                return self._differ(o, fo, n, fn)
            self._effects += self._is_seen(o, fo) or self._is_seen(n, fn)
            self._kind = self._kind or ("rename" if o.id != n.id and not fn.is_inlined and not fo.is_inlined else "")
        self._store(o, fo, value)
        self._store(n, fn, value)
        if isinstance(o, ast.Attribute):
            self._late(o, fo)
        return True

    def _is_seen(self, node: ast.Name, frame: Frame) -> bool:
        """Whether other functions may read the name: a global one, or one that functions inside share."""
        home = frame.home(node.id)
        return home is None or home.is_watched(node.id, 0)

    def _bind_attribute(self, o: ast.Attribute, fo: Frame, n: ast.Attribute, fn: Frame, value: Value) -> bool:
        self._effects += 1
        place, other = self._base(o, fo), self._base(n, fn)
        if place is None or other is None:
            return self._shape(o, fo, n, fn)
        if place != other:
            return self._differ(o, fo, n, fn)
        self._note(o, fo, n, fn)
        self._store(o, fo, value)
        self._store(n, fn, value)
        return True

    def _late(self, node: ast.Attribute, frame: Frame) -> None:
        place = self._base(node, frame)
        assert place is not None
        last = getattr(node, "end_lineno", node.lineno) or node.lineno
        line = Line(frame.side, frame.path, node.lineno, last, "extract", function=frame.title)
        self.state.late[place] = Late(frame.side, self._effects, self._doubts, line)

    def _delete(self, a: ast.Delete, fo: Frame, b: ast.Delete, fn: Frame) -> None:
        """A local goes where its function does; a name of a module or a class is another one elsewhere."""
        kinds = [[type(each) for each in node.targets] for node in (a, b)]
        named = [(each.id, frame) for node, frame in ((a, fo), (b, fn)) for each in node.targets
                 if isinstance(each, ast.Name)]  # fmt: skip
        if kinds[0] != kinds[1] or (
            any(frame.home(name) is None for name, frame in named) and self._is_elsewhere(fo, fn)
        ):
            self._differ(a, fo, b, fn)
            return
        for x, y in zip(a.targets, b.targets, strict=True):
            self._shape(x, fo, y, fn)
            gone = self._new()
            self._store(x, fo, gone)
            self._store(y, fn, gone)
        self._effects += 1
