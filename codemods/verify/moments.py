"""What the kernel keeps of moments: what was stored, read, handed on and put off, and when; and whether one place may
be another."""

from __future__ import annotations

import ast

from msgspec import Struct

from codemods.verify.frames import Frame, Line

Value = tuple[object, ...]
Place = tuple[object, ...]
OLD, NEW = 0, 1
Kept = tuple[tuple[int, ...], ast.Attribute, Frame]  # at which moment
_MADE = frozenset({"fresh", "phi", "loop", "lazy", "caught"})  # values with a number of their own
EFFECTS = (ast.Call, ast.Await, ast.Yield, ast.YieldFrom, ast.Subscript)


class Late(Struct, frozen=True):
    """An attribute that one side has stored and the other has not yet. effects: how many there had been."""

    side: int
    effects: int
    doubts: int
    line: Line


class Capture(Struct):
    """An attribute that one side reads once, at a call or into a local. path, reached, time: when that was."""

    frame: Frame
    node: ast.Attribute | ast.Name
    value: Value
    place: Place
    path: tuple[int, ...]
    reached: int
    waited: int
    time: int
    is_met: bool = False


class Handed(Struct, frozen=True):
    """An effect. text: the path and the text of what was called; values: what was handed to it; stored: the attribute
    it stores into, where it is a store in `node`; is_own: whether it got the object whose method this is; is_foreign:
    whether it reaches nothing of ours but what it gets; asked: for an operation of an object, which of its methods."""

    text: str
    values: tuple[Value, ...] = ()
    stored: Place = ()
    is_own: bool = False
    is_foreign: bool = False
    asked: str = ""
    node: ast.AST | None = None
    frame: Frame | None = None

    def may_write(self, place: Place) -> bool:
        """Whether it may store into an attribute. place: of the form ("a", object, name), or a global's; or of
        a local that functions inside bind, which may be called by whatever runs."""
        if self.stored:
            return may_be_one(self.stored, place)
        return place[0] == "n" or self.gets(place) or not (self.is_foreign or self.asked)

    def gets(self, place: Place) -> bool:
        """Whether the object that has the attribute is handed to it."""
        return place[0] == "g" or self.reaches(place)

    def reaches(self, place: Place) -> bool:
        """Whether the object of an attribute is handed to it, or one that has that object as an attribute."""
        return self.is_own or any(is_part(each, place[1]) for each in self.values)  # type: ignore[arg-type]

    def said(self, place: Place) -> str:
        """It, for a duty about that attribute."""
        return f"{self.asked or ('' if self.gets(place) else '?')}{self.text}"


class Passed(Struct, frozen=True):
    """Both sides have read a place while something was still to be met. times: when each did."""

    times: tuple[int, int]
    place: Place
    node: ast.expr
    frame: Frame


class Lazy(Struct):
    """An expression that one side evaluates into a name; it is met where the other side evaluates it."""

    node: ast.expr
    frame: Frame
    path: tuple[int, ...]
    effects: int
    time: int
    value: Value | None = None


class Since(Struct, frozen=True):
    """A moment of the comparison. fresh: the last number that was given to a value; frames: how many each side had."""

    fresh: int
    frames: tuple[int, int]

    def is_newer(self, place: object, side: int) -> bool:
        """Whether a place, or an object it is in, was made after this moment. Frames of a side count for themselves;
        scopes inside a function are numbered with the values, below zero."""
        if not isinstance(place, tuple):
            return False
        kind, number = place[:2] if len(place) > 1 else ("", None)
        if isinstance(number, int):
            if kind == "l" and (number > self.frames[side] or -number > self.fresh):
                return True
            if kind == "cell" and place[2] > self.frames[number]:
                return True
            if kind in _MADE and number > self.fresh:
                return True
        return any(self.is_newer(part, side) for part in place)


def may_be_one(place: Place, other: Place) -> bool:
    """Whether an attribute's place and another are of one name, of objects that may be one: neither is a part of the
    other."""
    if other[0] != "a" or place[2] != other[2]:
        return False
    return not is_part(place[1], other[1]) and not is_part(other[1], place[1])  # type: ignore[arg-type]


def is_part(part: Value, value: Value) -> bool:
    """Whether a value is another one, or an attribute of it, and so on."""
    at: object = value
    while isinstance(at, tuple) and at:
        if at == part:
            return True
        at = at[1] if at[0] == "attr" else None
    return False


def initial(place: Place) -> Value:
    if place[0] == "a":
        return ("attr", place[1], place[2])
    return ("ref", *place[1]) if place[0] == "g" else ("unset", place[2])  # type: ignore[misc]
