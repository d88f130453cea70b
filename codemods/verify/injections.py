"""A class that is given fields, getters or callbacks where it was given the object that has them.

Inside the class the old `self.runner.size` is the new `self.size`, by claim. That the claim holds is seen wherever an
object of the class is made: what is given now has to be what the object given before has under that name."""

from __future__ import annotations

import ast
from collections.abc import Mapping

from codemods.source.nodes import walk
from codemods.verify.forms import has
from codemods.verify.frames import Duty, Frame, Item
from codemods.verify.meetings import Meetings
from codemods.verify.moments import EFFECTS, NEW, OLD, Value
from codemods.verify.names import Definition
from codemods.verify.scopes import parameters


def in_turn(old: Mapping[str, ast.expr], new: Mapping[str, ast.expr]) -> bool:
    """Whether what two calls give to parameters of one name is evaluated in one order."""
    turns = [[name for name, node in given.items() if has(node, EFFECTS)] for given in (old, new)]
    shared = set(turns[0]) & set(turns[1])
    return [name for name in turns[0] if name in shared] == [name for name in turns[1] if name in shared]


class Injections(Meetings):
    """Compares calls that make such objects."""

    def same(self, o: ast.expr, fo: Frame, n: ast.expr, fn: Frame) -> bool:
        """Whether both come to the same value with the same effects."""
        raise NotImplementedError

    def _asked(self, o: ast.expr, fo: Frame, n: ast.expr, fn: Frame) -> bool:
        """Whether the new side calls a getter for what the old one reads."""
        if not (isinstance(n, ast.Call) and isinstance(n.func, ast.Attribute) and not n.args and not n.keywords):
            return False
        getter = self.value(n.func, fn)
        wanted = self.value(o, fo)
        return getter is not None and wanted == ("attr", getter[1], f"{n.func.attr}()")

    def _made(self, o: ast.expr, fo: Frame, n: ast.expr, fn: Frame) -> bool | None:
        """Two calls that make an object of one such class; None for anything else."""
        if not self.claims.injected or not isinstance(o, ast.Call) or not isinstance(n, ast.Call):
            return None
        (place, old), (there, new) = self.canon[OLD].made(o, fo), self.canon[NEW].made(n, fn)
        known = {(first, last): name for (*home, first, last), name in self._injected(there)}
        if there is None or place != there or not known:
            return None
        if old is None or new is None:
            return self._differ(o, fo, n, fn)
        firsts = {first for first, _ in known}
        wanted = {each.removesuffix("()").lstrip("_") for each in known.values()}
        good = (in_turn(old, new) and wanted <= {name.lstrip("_") for name in new}) or self._differ(o, fo, n, fn)
        for name, given in new.items():
            if name in old:
                good &= self.same(old[name], fo, given, fn)
                continue
            source = next((key for key, each in known.items() if each.removesuffix("()").lstrip("_") == name), None)
            holder = self.value(old[source[0]], fo) if source is not None and source[0] in old else None
            if source is None or holder is None or not self._is_given(holder, source[1], given, fn, known[source]):
                good = self._differ(o, fo, given, fn)
            elif not isinstance(given, (ast.Attribute, ast.Lambda)):
                self._duty("constant", fo, ast.copy_location(ast.Attribute(old[source[0]], source[1], ast.Load()), o))
        for name, given in old.items():
            if name not in new and (name not in firsts or self.value(given, fo) is None):
                good = self._differ(given, fo, n, fn)
        if good:
            self.duties.append(Duty("made", NEW, fn.path, n.lineno, there, fn.title))
        self._effects += 1
        self._kind = "inject"
        return good

    def _injected(self, there: Definition | None) -> list[tuple[tuple[str, ...], str]]:
        return [(key, name) for key, name in self.claims.injected.items() if key[:2] == there]

    def _is_given(self, holder: Value, last: str, given: ast.expr, fn: Frame, name: str) -> bool:
        """Whether an argument is what `holder.last` is, now or whenever it is asked for."""
        wanted = self._member(OLD, holder, last)
        if isinstance(given, ast.Lambda):
            names = [each.arg for each in parameters(given)]
            if name.endswith("()"):
                return not names and self.value(given.body, fn) == wanted and self._is_kept(given.body, fn)
            call = given.body
            if not isinstance(call, ast.Call) or call.keywords or [ast.unparse(each) for each in call.args] != names:
                return False
            is_hidden = any(isinstance(each, ast.Name) and each.id in names for each in walk(call.func))
            return not is_hidden and self.value(call.func, fn) == wanted and self._is_kept(call.func, fn)
        if name.endswith("()") or self.value(given, fn) != wanted:
            return False
        if isinstance(given, ast.Attribute):
            self._duty("constant", fn, given)
        return True

    def _is_kept(self, node: ast.expr, frame: Frame) -> bool:
        """Whether what a lambda reads a member from is the same object whenever the lambda is called."""
        holder = node.value if isinstance(node, ast.Attribute) else node
        if isinstance(holder, ast.Attribute):
            self._duty("constant", frame, holder)
        return all(
            (home := frame.home(each.id)) is not None and home.is_settled(each.id)
            for each in walk(holder)
            if isinstance(each, ast.Name)
        )

    def _is_maker(self, frame: Frame) -> bool:
        """Whether this is the new __init__ of such a class."""
        return frame.title.endswith(".__init__") and bool(self._injected((frame.path, frame.owner)))

    def _is_injected(self, target: ast.Attribute, frame: Frame) -> bool:
        """Whether __init__ keeps the object, or what is given in its place."""
        there = (frame.path, frame.owner)
        if frame.side == OLD:
            there = self.claims.pairs.get(there, there)
            there = (self.claims.modules.get(there[0], there[0]), there[1])
        if frame.title.rpartition(".")[2] != "__init__":
            return False
        known = self._injected(there)
        if frame.side == OLD:
            return any(key[2] == target.attr for key, _ in known)
        return any(name.removesuffix("()") == target.attr for _, name in known)

    def _is_injection(self, item: Item) -> bool:
        """Whether a statement does nothing but keep it."""
        targets, value = item.assignment() if item.is_assignment else ((), None)
        target = targets[0] if len(targets) == 1 else None
        if not isinstance(target, ast.Attribute) or not isinstance(value, ast.Name):
            return False
        return self._is_injected(target, item.frame) and _is_namesake(value.id, target.attr)

    def _keeps(self, target: ast.Attribute, frame: Frame, value: Value) -> bool:
        """Whether __init__ keeps here what it was given; when it does is compared at its end."""
        if not self._is_injected(target, frame) or value[0] != "param" or not _is_namesake(str(value[1]), target.attr):
            return False
        if frame.side == NEW:
            what = (frame.path, frame.owner, target.attr)
            self.duties.append(Duty("injected", NEW, frame.path, target.lineno, what, frame.title))
        self._kept[frame.side].append(((*self._path, self._effects, len(self._returns)), target, frame))
        return True

    def _keepings(self) -> None:
        """At the end of __init__: both sides have to keep what they are given at the same moments."""
        moments = [{moment for moment, _, _ in each} for each in self._kept]
        for side, known in enumerate(self._kept):
            for moment, target, frame in known:
                if moment not in moments[1 - side]:
                    self._residue(target, frame, "kept at another moment than on the other side", "U103")
        self._kept = ([], [])


def _is_namesake(parameter: str, attribute: str) -> bool:
    return parameter.lstrip("_") == attribute.lstrip("_")
