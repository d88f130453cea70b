"""Two expressions have met: what that says of the line, and what has to be shown because they did not meet before."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from typing import Any

from codemods.verify.forms import has
from codemods.verify.frames import Frame
from codemods.verify.handings import Handings
from codemods.verify.moments import EFFECTS, NEW, OLD, Capture, Passed, Place, Value, is_part, may_be_one
from codemods.verify.names import is_rebound

# What these come to depends on the frame, the class or the module they stand in.
REFLECTS = frozenset({"locals", "globals", "vars", "dir", "eval", "exec", "super", "__class__", "warnings.warn"})
REFLECTS |= {"inspect.currentframe", "inspect.stack", "sys._getframe", "traceback.extract_stack"}
_OWN = frozenset({"__name__", "__file__", "__spec__", "__package__"})
REFLECTS |= _OWN
_SEES_LOCALS = frozenset({"locals", "vars", "dir", "eval", "exec"})
_OWNERS = (("ref", "top"), ("ref", "mod"), ("ref", "ext"))
_MADE_ONCE = (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef)


class Meetings(Handings):
    """Notes what a comparison used, and hands on what it took for granted."""

    def _is_elsewhere(self, fo: Frame, fn: Frame) -> bool:
        return fo.is_inlined or fn.is_inlined or (fo.path, fo.title) != (fn.path, fn.title)

    def _met(self, value: Value, o: ast.expr, fo: Frame, n: ast.expr, fn: Frame) -> None:
        """Two expressions have one value; of tuples and records, so have their parts."""
        parts = _parts(o), _parts(n)
        if len(parts[OLD]) == 1 == len(parts[NEW]):
            self._met_one(value, o, fo, n, fn)
        elif len(parts[OLD]) == len(parts[NEW]):
            for x, y in zip(*parts, strict=True):
                self._met(self.value(x, fo) or value, x, fo, y, fn)
        else:  # one of them is a name for all of it
            for x in parts[OLD]:
                for y in parts[NEW]:
                    self._met_one(value, x, fo, y, fn)

    def _met_one(self, value: Value, o: ast.expr, fo: Frame, n: ast.expr, fn: Frame) -> None:
        """One side reads again what the other has captured before: when, and was it always going to be read?"""
        self._note(o, fo, n, fn)
        self._pass(o, fo, n, fn)
        if self.turned and getattr(n, "attr", getattr(n, "id", "")) in self.turned:
            self._residue(n, fn, "takes its parameters in other places now", "U121")
        if value[0] == "ref" and self._is_copy(o, fo) is not self._is_copy(n, fn):
            self._rebound(n, fn)
        for node, frame in ((n, fn), (o, fo)):
            for each in self._captures.get(self._place(node, frame), ()):
                if not is_part(each.value, value) and value[0] not in ("tuple", "record"):
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
                    self._duty("plain", frame, node)
            if place is not None and any(
                may_be_one(late, place) and not self._is_held(late, place) for late in self.state.late
            ):
                self._residue(node, frame, "one side has stored it already where this is the same object", "U101")

    def _read(self, node: ast.expr, frame: Frame) -> Place | None:
        """What is read that others may write: an attribute, a global, a local that functions inside bind."""
        if isinstance(node, ast.Attribute):
            return self._base(node, frame)
        if isinstance(node, ast.Name):
            home = frame.home(node.id)
            if home is None:
                return ("g", self.canon[frame.side].reference(node.id, frame))
            return ("n", home.number, node.id) if home.is_rebound(node.id) else None
        return None

    # ---- what both read while a call is still to be met

    def _read_now(self, frame: Frame, node: ast.Attribute | ast.Name, value: Value, place: Place) -> Capture:
        now = (tuple(self._path), self._reached, self._waited, next(self._clock))
        return Capture(frame, node, value, place, *now)

    def _readings(self, node: ast.expr, frame: Frame) -> Iterator[tuple[int, Place, ast.expr, Frame]]:
        """When a name or an attribute was read that is met now: just now, or when it went into a local."""
        for each in self._captures.get(self._place(node, frame), ()):
            yield each.time, each.place, each.node, each.frame
        place = self._read(node, frame)
        if place is not None:
            yield self._now.get(frame.side) or next(self._clock), place, node, frame

    def _pass(self, o: ast.expr, fo: Frame, n: ast.expr, fn: Frame) -> None:
        """Keeps what is read on both sides while an effect is not met that one of them has had already."""
        pending = [each for each in self._lazies.values() if each.value is None and has(each.node, EFFECTS)]
        if not pending:
            self._passed.clear()
            return
        for before, place, node, frame in self._readings(o, fo):
            for after, other, *there in self._readings(n, fn):
                times = (before, after)
                self._passed.append(Passed(times, place, node, frame))
                if other != place:
                    self._passed.append(Passed(times, other, *there))  # type: ignore[arg-type]

    def _crossed(self, times: tuple[int, int], since: int, waited: int) -> None:
        """An effect is met that each side had at a time of its own: what came before it has to come before it on both.
        since: the number of effects there were without it; waited: how often other code may have run."""
        for each in self._passed:
            if (each.times[OLD] < times[OLD]) is (each.times[NEW] < times[NEW]):
                continue
            if self._waited != waited:
                self._residue(each.node, each.frame, "read before other code may run, and not after it", "U101")
            else:
                self._unwritten(each.place, since, each.node, each.frame)

    # ---- globals

    def _is_copy(self, node: ast.expr, frame: Frame) -> bool:
        """Whether a name was bound by an import, when its module was loaded: what it means stays what it was."""
        if not isinstance(node, ast.Name) or frame.home(node.id) is not None:
            return False
        found = self.canon[frame.side].names.table(frame.path).get(node.id, ())
        return any(isinstance(each, ast.ImportFrom) for each in found)

    def _rebound(self, node: ast.expr, frame: Frame) -> None:
        """The value of a global has to stay, whoever may bind it."""
        names = self.canon[frame.side].names
        dotted = ast.unparse(node).split(".")
        home = names.followed(frame.path, dotted) if all(each.isidentifier() for each in dotted) else None
        if home is None or home[0] not in ("top", "ext"):
            return
        where = home[1:] if home[0] == "top" else (home[1].rpartition(".")[0], home[1].rpartition(".")[2])
        made = names.definitions(home[1]).get(home[2]) if home[0] == "top" else None
        if not isinstance(made, _MADE_ONCE) or is_rebound(names, home[1], home[2]):
            self._duty("rebound", frame, node, *where)

    def _may_be_bound(self, place: Place, node: ast.Name, frame: Frame) -> bool:
        """Whether somebody may bind the global anew, or the local from inside. A function or class is taken to stay
        where no function of its module says otherwise."""
        if place[0] == "n":
            return True
        names = self.canon[frame.side].names
        home = names.resolve(frame.path, node.id)
        if home[0] != "top":
            return False
        made = names.definitions(home[1]).get(home[2])
        return not isinstance(made, _MADE_ONCE) or is_rebound(names, home[1], home[2])

    def _may_divide_by_zero(self, node: ast.AST, frame: Frame) -> bool:
        if not isinstance(node, ast.BinOp) or not isinstance(node.op, (ast.Div, ast.FloorDiv, ast.Mod)):
            return False
        held = self.value(node.right, frame)
        return held is None or held[0] != "const"

    def _globals(self, value: ast.expr, frame: Frame) -> Iterator[Capture]:
        """Names in an expression that others may bind anew, and attributes of classes and modules."""
        for node in ast.walk(value):
            place = self._read(node, frame) if isinstance(node, ast.Name) else None
            if place is not None and isinstance(node, ast.Name) and self._may_be_bound(place, node, frame):
                yield self._read_now(frame, node, self.value(node, frame) or ("none",), place)
            if isinstance(node, ast.Attribute) and (its := self.value(node, frame)) is not None and its[0] == "ref":
                base = self._base(node, frame)
                if base is not None and base[1][:2] in _OWNERS:  # type: ignore[index]
                    yield self._read_now(frame, node, its, ("g", its[1:]))

    def _is_held(self, place: Place, other: Place) -> bool:
        """Whether the object of one place is kept in a field of the object of the other."""
        pairs = {(place[1], other[1]), (other[1], place[1])}
        return any(at[0] == "a" and (at[1], held) in pairs for side in self.state.held for at, held in side.items())

    def _unwritten(self, place: Place, since: int, node: ast.expr, frame: Frame) -> None:
        """What was stored or read at one moment is read again: nobody has written it on the way."""
        found = [
            each
            for each in self._handed[since:]
            if each.may_write(place) and not (each.stored and self._is_held(each.stored, place))
        ]
        for each in self._handed[since:]:
            if each.stored and each.frame is not None and each.node is not None and each not in found:
                self._duty("plain", each.frame, each.node)
        if any(each.stored or place[0] == "n" for each in found):
            self._residue(node, frame, "may have been written where it was read again", "U101")
        elif found and (isinstance(node, ast.Name) or self._is_of_module(node, frame)):
            self._rebound(node, frame)
        elif found:
            self._duty("stable", frame, node, *dict.fromkeys(each.said(place) for each in found))

    def _is_of_module(self, node: ast.expr, frame: Frame) -> bool:
        base = self.value(node.value, frame) if isinstance(node, ast.Attribute) else None
        return base is not None and base[:2] in (("ref", "mod"), ("ref", "ext"))

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
            differs = (fo.path, fo.scope) != (fn.path, fn.scope) and not self._is_pair(fo, fn)
        elif name in _OWN:
            differs = fo.path != fn.path
        elif name in _SEES_LOCALS:
            differs = fo.path != fn.path or [*_scopes(fo)] != [*_scopes(fn)]
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


def _parts(node: ast.expr) -> list[ast.expr]:
    """What a tuple or a record is made of; of anything else, the expression itself."""
    if isinstance(node, ast.Tuple) and node.elts:
        return [part for each in node.elts for part in _parts(each)]
    if isinstance(node, ast.Call) and (node.args or node.keywords):
        return [part for each in [*node.args, *(k.value for k in node.keywords)] for part in _parts(each)]
    return [node]


def _scopes(frame: Frame) -> Iterator[frozenset[str]]:
    """The names of a function and of those around it."""
    at: Frame | None = frame
    while at is not None:
        yield at.names
        at = at.around


def _chain(node: ast.expr) -> tuple[str, str]:
    """The last two names of `x.a.b`; two empty ones when it is not so written."""
    if isinstance(node, ast.Attribute) and isinstance(node.value, ast.Attribute):
        return node.value.attr, node.attr
    return "", ""
