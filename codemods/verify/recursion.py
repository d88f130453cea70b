"""A function that calls itself, where one side takes more than the other: what only one side takes has to be handed on
as it is, since the other side finds it again at each call."""

from __future__ import annotations

import ast

from codemods.source.nodes import walk
from codemods.verify.frames import Duty, Frame
from codemods.verify.injections import Injections, in_turn
from codemods.verify.moments import NEW, OLD


class Recursion(Injections):
    """Compares calls of the functions that are being compared."""

    def _again(self, o: ast.expr, fo: Frame, n: ast.expr, fn: Frame) -> bool | None:
        """Both call the function that is being compared; what only the new one takes has to be handed on unchanged."""
        if not isinstance(o, ast.Call) or not isinstance(n, ast.Call):
            return None
        old, new = self.canon[OLD].again(o, fo), self.canon[NEW].again(n, fn)
        if old is None or new is None:
            return None
        canon = self.canon[NEW]
        outer = canon.bound.get(new[0], {}) if old[0] == new[0] else canon.all_of(new[0], old[0], fn)
        if outer is None:
            return None
        if isinstance(o.func, ast.Attribute) and fo.owner:
            self.duties.append(Duty("dispatch", OLD, fo.path, o.lineno, (fo.path, fo.owner, o.func.attr), fo.title))
        good = in_turn(old[1], new[1]) or self._differ(o, fo, n, fn)
        for name, given in new[1].items():
            if name in old[1]:
                good &= self.same(old[1][name], fo, given, fn)
            elif not (self._is_itself(name, given, fn) and self._is_found(outer.get(name), old[1], fo, given, fn)):
                good = self._differ(None, fo, given, fn)
        for name, given in old[1].items():
            if name not in new[1] and not self._is_itself(name, given, fo):
                good = self._differ(given, fo, n, fn)
        self._effects += 1
        self._handed.append(self._handing(o, fo))
        self._reached = len(self._handed)
        return good

    def _is_itself(self, name: str, given: ast.expr, frame: Frame) -> bool:
        """Whether a parameter is given to the next call as it is."""
        home = frame.home(name)
        is_settled = home is not None and home.is_settled(name)
        return is_settled and self.value(given, frame) == self.value(ast.Name(name, ast.Load()), frame)

    def _is_found(
        self, wanted: ast.expr | None, handed: dict[str, ast.expr], fo: Frame, given: ast.expr, fn: Frame
    ) -> bool:
        """Whether the other side, when it is called again, still finds what was handed on instead. wanted: what it
        finds it by."""
        if wanted is None:
            return True
        names = {each.id for each in walk(wanted) if isinstance(each, ast.Name) and fo.home(each.id) is not None}
        if not all(self._is_itself(name, handed.get(name, ast.Name(name, ast.Load())), fo) for name in names):
            return False
        return self.same(wanted, fo, given, fn)
