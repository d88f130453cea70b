"""Two expressions have met: what that says of the line, and what has to be shown because they did not meet before."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from typing import Any

from codemods.verify.forms import has
from codemods.verify.frames import Frame
from codemods.verify.values import EFFECTS, NEW, OLD, Capture, Handed, Place, Value, Values, is_part, may_be_one

# What these come to depends on the frame, the class or the module they stand in.
REFLECTS = frozenset({"locals", "globals", "vars", "dir", "eval", "exec", "super", "__class__", "warnings.warn"})
REFLECTS |= {"inspect.currentframe", "inspect.stack", "sys._getframe", "traceback.extract_stack"}
_OWN = frozenset({"__name__", "__file__", "__spec__", "__package__"})
REFLECTS |= _OWN
_SEES_LOCALS = frozenset({"locals", "vars", "dir", "eval", "exec"})


class Meetings(Values):
    """Notes what a comparison used, and hands on what it took for granted."""

    def _is_elsewhere(self, fo: Frame, fn: Frame) -> bool:
        return fo.is_inlined or fn.is_inlined or (fo.path, fo.title) != (fn.path, fn.title)

    def _met(self, value: Value, o: ast.expr, fo: Frame, n: ast.expr, fn: Frame) -> None:
        """One side reads again what the other has captured before: when, and was it always going to be read?"""
        self._note(o, fo, n, fn)
        for node, frame in ((n, fn), (o, fo)):
            for each in self._captures.get(self._place(node, frame), ()):
                if not is_part(each.value, value):
                    continue
                if self._waited != each.waited:
                    self._residue(each.node, each.frame, "read before other code may run, and not after it", "U101")
                else:
                    self._unwritten(each.place, each.reached, each.node, each.frame)
                each.is_met |= tuple(self._path) == each.path

        for side, (node, frame), (other, its) in ((OLD, (o, fo), (n, fn)), (NEW, (n, fn), (o, fo))):
            place = self._read(node, frame)
            if place is not None and place in self._stored[side] and self._read(other, its) != place:
                self._unwritten(place, self._stored[side][place], node, frame)
                if place[0] == "a":
                    self._duty("computed", frame, node)
            if place is not None and any(
                may_be_one(late, place) and not self._is_held(late, place) for late in self.state.late
            ):
                self._residue(node, frame, "one side has stored it already where this is the same object", "U101")

    def _read(self, node: ast.expr, frame: Frame) -> Place | None:
        """The attribute or the global that an expression reads."""
        if isinstance(node, ast.Attribute):
            return self._base(node, frame)
        if isinstance(node, ast.Name) and frame.home(node.id) is None:
            return ("g", self.canon[frame.side].reference(node.id, frame))
        return None

    def _is_rebound(self, place: Place, frame: Frame) -> bool:
        """Whether a function of its module binds the global anew."""
        ref: tuple[str, ...] = place[1]  # type: ignore[assignment]
        names = self.canon[frame.side].names
        home = names.resolve(frame.path, ref[-1])
        return home[0] == "top" and home[1] in self.claims.changed and home[2] in names.rebound(home[1])

    def _may_divide_by_zero(self, node: ast.AST, frame: Frame) -> bool:
        if not isinstance(node, ast.BinOp) or not isinstance(node.op, (ast.Div, ast.FloorDiv, ast.Mod)):
            return False
        held = self.value(node.right, frame)
        return held is None or held[0] != "const"

    def _globals(self, value: ast.expr, frame: Frame) -> Iterator[Capture]:
        """Globals in an expression that functions bind anew."""
        for node in ast.walk(value):
            place = self._read(node, frame) if isinstance(node, ast.Name) else None
            if place is not None and isinstance(node, ast.Name) and self._is_rebound(place, frame):
                held: Value = ("ref", *place[1])  # type: ignore[misc]
                yield Capture(frame, node, held, place, tuple(self._path), self._reached, self._waited)
            if isinstance(node, ast.Attribute) and (its := self.value(node, frame)) is not None and its[0] == "ref":
                base = self._base(node, frame)
                if base is not None and base[1][:2] == ("ref", "top"):  # type: ignore[index]
                    yield Capture(frame, node, its, ("g", its[1:]), tuple(self._path), self._reached, self._waited)

    def _is_held(self, place: Place, other: Place) -> bool:
        """Whether the object of one place is kept in a field of the object of the other."""
        pairs = {(place[1], other[1]), (other[1], place[1])}
        return any(at[0] == "a" and (at[1], held) in pairs for side in self.state.held for at, held in side.items())

    def _hand(self, node: ast.expr, frame: Frame) -> None:
        """An object is entered, gone through or indexed, by methods of its own."""
        held = self.value(node, frame)
        if held is not None:
            self._handed.append(Handed(f"{frame.path}:{ast.unparse(node)}", (held,)))
            self._reached = len(self._handed)

    def _unwritten(self, place: Place, since: int, node: ast.expr, frame: Frame) -> None:
        """What was stored or read at one moment is read again: nobody has written it on the way."""
        found = [
            each
            for each in self._handed[since:]
            if each.may_write(place) and not (each.stored and self._is_held(each.stored, place))
        ]
        if any(each.stored for each in found) or (found and place[0] == "g" and isinstance(node, ast.Name)):
            self._residue(node, frame, "may have been written where it was read again", "U101")
        elif found:
            self._duty("stable", frame, node, *dict.fromkeys(each.text for each in found))

    def _note(self, o: ast.expr, fo: Frame, n: ast.expr, fn: Frame) -> None:
        if isinstance(o, ast.Name) and isinstance(n, ast.Name) and fo.home(o.id) is None and fn.home(n.id) is None:
            places = [
                canon.names.resolve(frame.path, node.id)
                for canon, frame, node in zip(self.canon, (fo, fn), (o, n), strict=True)
            ]
            is_moved = (places[0][1:], places[1][1:]) in self.claims.pairs.items()
            is_elsewhere = places[0][:2] != places[1][:2] and not is_moved
            if is_elsewhere and self.canon[NEW].repeatable(places[1]) is not None:
                self._duty("repeated", fn, n)
        if isinstance(n, ast.Attribute):
            if n.attr in self.claims.attributes and not (isinstance(o, ast.Attribute) and o.attr == n.attr):
                self._kind = "rename"
                self._duty("renamed", fn, n)
            elif _chain(n) in self.claims.redirects and _chain(o) != _chain(n):
                self._kind = "redirect"
                self._duty("redirected", fn, n)
            else:
                self._note(o.value if isinstance(o, ast.Attribute) else o, fo, n.value, fn)
        elif isinstance(o, ast.Attribute) and isinstance(n, ast.Name):
            self._kind = self._kind or "parameter"
        elif isinstance(o, ast.Name) and isinstance(n, ast.Name) and o.id != n.id:
            self._kind = self._kind or "rename"

    def _reflects(self, name: str, fo: Frame, n: ast.expr, fn: Frame) -> None:
        """Something that depends on where it stands."""
        if name in ("super", "__class__"):
            differs = (fo.path, fo.scope) != (fn.path, fn.scope)
            differs = differs and not (name == "super" and fo.scope and self._is_pair(fo, fn))
        elif name in _OWN:
            differs = fo.path != fn.path
        elif name in _SEES_LOCALS:
            is_here = not self._is_elsewhere(fo, fn) or (self._is_pair(fo, fn) and _is_named_alike(fo, fn))
            differs = not is_here or fo.names != fn.names
        else:
            differs = self._is_elsewhere(fo, fn)
        if differs:
            self._duty("reflects", fn, n)

    def _is_pair(self, fo: Frame, fn: Frame) -> bool:
        """Whether the classes around are one class, which is elsewhere now or has another name. Its bases are compared
        where the class itself is."""
        return self.claims.pairs.get((fo.path, fo.scope)) == (fn.path, fn.scope)

    def _is_fixed(self, node: ast.expr, frame: Frame) -> bool:
        """Whether an expression comes to one value whenever it is evaluated: constants and what is built in."""
        if isinstance(node, ast.Tuple):
            return all(self._is_fixed(each, frame) for each in node.elts)
        if isinstance(node, ast.UnaryOp):
            return isinstance(node.operand, ast.Constant)
        if isinstance(node, ast.Name):
            return self.value(node, frame) == ("ref", "builtin", node.id)
        return isinstance(node, ast.Constant)

    def _patched(self, a: list[Any], call: ast.AST, b: list[Any]) -> list[Any]:
        """`patch("module.Class.method")`: the path of a definition stands for the definition."""
        if not (a and b and isinstance(a[0], ast.Constant) and isinstance(b[0], ast.Constant)):
            return b
        if ast.unparse(call.func).rpartition(".")[2] != "patch":  # type: ignore[attr-defined]
            return b
        old, new = (canon.names.modules for canon in self.canon)
        for before, after in self.claims.pairs.items():
            paths = f"{old.module_of(before[0])}.{before[1]}", f"{new.module_of(after[0])}.{after[1]}"
            if (a[0].value, b[0].value) == paths:
                return [a[0], *b[1:]]
        return b

    def _reordered(self, a: list[ast.keyword], b: list[ast.keyword]) -> list[ast.keyword]:
        """The new keywords in the old order, when evaluating them in another order can't be noticed."""
        if [keyword.arg for keyword in a] == [keyword.arg for keyword in b]:
            return b
        by_name = {keyword.arg: keyword for keyword in b}
        if None in by_name or any(has(keyword.value, EFFECTS) for keyword in [*a, *b]):
            return b
        first = [by_name.pop(keyword.arg) for keyword in a if keyword.arg in by_name]
        return [*first, *by_name.values()]

    def _one_path(self, old: object, fo: Frame, new: object, fn: Frame) -> bool:
        """Two texts that are the dotted path of one definition, before and after it moved."""
        refs = [canon.named(text, frame) for canon, text, frame in zip(self.canon, (old, new), (fo, fn), strict=True)]
        if None in refs or refs[0] != refs[1]:
            return False
        self._kind = "string"
        return True


def _is_named_alike(fo: Frame, fn: Frame) -> bool:
    """Whether both are the same method of a class of one module."""
    is_method = fo.path == fn.path and not fo.is_inlined and not fn.is_inlined
    return is_method and fo.title.removeprefix(fo.scope) == fn.title.removeprefix(fn.scope)


def _chain(node: ast.expr) -> tuple[str, str]:
    """The last two names of `x.a.b`; two empty ones when it is not so written."""
    if isinstance(node, ast.Attribute) and isinstance(node.value, ast.Attribute):
        return node.value.attr, node.attr
    return "", ""
