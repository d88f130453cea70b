"""What a run answers when code asks an opaque value for its truth, its order, its class, its size: by asking the world.

Orders are taken as total and equality as symmetric; NaN and classes that compare otherwise are outside (docs:
Limits)."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

from codemods.prove.errors import OpaqueError, Stopped
from codemods.prove.facts import MISSING, is_truth
from codemods.prove.freeze import Freezer, joined, mark, text_parts, thaw
from codemods.prove.opaque import ATTR, CALL, GLOBAL, ITEM, LEN, OP, ROOT, TEXT, Opaque, fixed, length_of, term
from codemods.prove.world import World

_CONSTANTS = (str, int, float, bool, bytes)
_SIZES = (1, 2, 0)
_MIRROR = {"gt": "lt", "ge": "le"}
_COMPUTED = frozenset(["add", "sub", "mul", "floordiv", "mod"])
_NOT_SUPPORTED = {name: f"'{name}' not supported" for name in ("lt", "le")}


class Questions:
    """The half of a run that decides."""

    world: World
    freezer: Freezer
    implicit: set[Opaque]
    _nones: set[Opaque]
    touched: dict[Opaque, Opaque]
    events: list[Opaque]
    record: Callable[..., None]

    def truth(self, value: Opaque) -> bool:
        if value._u_kind is OP:
            parts = value._u_parts
            decide = _DECIDE.get(parts[0])
            if decide is not None:
                return bool(decide(self, *parts[1:]))
            return bool(self.world.ask(("true", self.latest(value))))
        is_text = value._u_kind is TEXT
        if value in self.touched:
            value = self.latest(value)
        length: Opaque | None = value._u_attrs.get(LEN)
        if length is not None and not is_text:
            has_items = self._has_items(length)
            if has_items is not None:
                return has_items
        return bool(self.world.ask(("true", value)))

    def latest(self, value: Opaque) -> Opaque:
        """The value as it is after the last call that was given it: its size and content may be others then."""
        touch = self.touched.get(value)
        return value if touch is None else term(OP, "after", value, touch)

    def _has_items(self, length: Opaque) -> bool | None:
        """What is known of the length of a value says that it is empty, or that it is not."""
        about = self.world.known(length)
        if about is None:
            return None
        if about.truth_value() is False:
            return False
        return True if about.low is not None and (about.low > 0 or about.low_open) else None

    def _truth_eq(self, a: Any, b: Any) -> bool:
        if type(a) is not Opaque:
            a, b = b, a
        if type(b) is Opaque:
            for pair in ((a, b), (b, a)):
                if self.world.told(("true", term(OP, "is", *pair))) is True:
                    return True
            told = self.world.told(("same", b, a))
            return bool(told) if told is not MISSING else bool(self.world.ask(("same", a, b)))
        if b is None:
            return self.is_none(a)
        constant = thaw(b)
        if isinstance(constant, _CONSTANTS):
            return bool(self.world.ask(("eq", a, constant), (False, True)))
        if type(b) is tuple and b in (("tuple",), ("list",), ("dict", frozenset()), ("set", frozenset())):
            return not self.truth(a)
        return bool(self.world.ask(("same", a, b), (False, True)))

    def _truth_ne(self, a: Any, b: Any) -> bool:
        return not self._truth_eq(a, b)

    def _truth_lt(self, a: Any, b: Any) -> bool:
        low, high = thaw(a), thaw(b)
        if type(a) is Opaque and isinstance(high, int | float):
            return bool(self.world.ask(("lt", a, high)))
        if type(b) is Opaque and isinstance(low, int | float):
            return not self.world.ask(("le", b, low))
        if self.world.told(("less", b, a)) is True:
            return False
        return bool(self.world.ask(("less", a, b)))

    def _truth_le(self, a: Any, b: Any) -> bool:
        return not self._truth_lt(b, a)

    def _truth_not(self, value: Opaque) -> bool:
        return not self.truth(value)

    def _truth_isinstance(self, value: Opaque, kind: Any) -> bool:
        return self.is_a(value, kind)

    def _truth_len(self, value: Opaque) -> bool:
        return not self.world.ask(("le", length_of(value), 0))

    def is_none(self, value: Opaque) -> bool:
        """`value is None`."""
        kind = value._u_kind
        if (
            kind is TEXT
            or value in self.implicit  # it was used as None can't be
            or (kind is ROOT and value._u_parts[0] == "self")
        ):
            return False
        if self.world.values and value in self.world.values:
            return self.world.values[value] is None
        return bool(self.world.ask(("none", value), (False, True)))

    def is_same(self, a: Any, b: Any) -> bool:
        """`a is b`."""
        if a is b:
            return True
        if type(b) is Opaque and type(a) is not Opaque:
            a, b = b, a
        if type(a) is not Opaque:
            return False
        if b is None:
            return self.is_none(a)
        if type(b) is Opaque:
            return self._truth_eq(a, b) if GLOBAL in (a._u_kind, b._u_kind) else self._is_one(a, b)
        frozen = self.freezer.freeze(b)
        if isinstance(b, bool):
            return self._is_bool(a, b)
        return bool(self.world.ask(("same", a, frozen), (False, True)))

    def _is_bool(self, a: Opaque, b: bool) -> bool:
        """`a is True`: more than `a == True`, as 1 is equal to it."""
        world, kind = self.world, self.world.told(("isa", a, bool))
        if kind is False or world.told(("eq", a, b)) is False:
            return False
        if kind is True or is_truth(a):
            return bool(world.ask(("eq", a, b), (False, True)))
        is_it = bool(world.ask(("true", term(OP, "is", a, ("bool", b))), (False, True)))
        if is_it:
            world.facts.learn(("eq", a, b), True)
        return is_it

    def _is_one(self, a: Opaque, b: Opaque) -> bool:
        """`a is b`: equal values may be two."""
        world = self.world
        if world.told(("same", a, b)) is False or world.told(("same", b, a)) is False:
            return False
        one, other = term(OP, "is", a, b), term(OP, "is", b, a)
        told = world.told(("true", other))
        return bool(world.ask(("true", one)) if told is MISSING else told)

    def is_a(self, value: Any, kind: Any) -> bool:
        """`isinstance` with one class, real or opaque, of a value that may be opaque."""
        if type(value) is Opaque:
            if kind is object:
                return True
            if kind is type(None):
                return self.is_none(value)
            if value._u_kind is TEXT:
                return kind is str
            if value._u_kind is ROOT and value._u_parts[0] == "self":
                return bool(self.world.ask(("true", term(OP, "isinstance", value, self.freezer.freeze(kind)))))
            frozen = kind if isinstance(kind, type) and kind.__module__ == "builtins" else self.freezer.freeze(kind)
            return bool(self.world.ask(("isa", value, frozen)))
        return self.is_instance(value, kind)

    def is_instance(self, value: Any, kind: Opaque) -> bool:
        """Whether a real value is an instance of a class that is not in the trees."""
        if value is None or isinstance(value, str | int | float | bytes | list | tuple | dict | set):
            return False
        if isinstance(value, OpaqueError):
            raised = value._u_raised
            if raised is kind or (raised._u_kind is CALL and raised._u_parts[0] is kind):
                return True
        if any(getattr(base, "_u_class", None) is kind for base in type(value).__mro__):
            return True
        return bool(self.world.ask(("true", term(OP, "isinstance", self.freezer.freeze(value), kind)), (False, True)))

    def compare(self, name: str, a: Any, b: Any) -> Any:
        if a is b and name in ("eq", "ne"):
            return name == "eq"
        if name in _MIRROR:
            name, a, b = _MIRROR[name], b, a
        if name in ("lt", "le"):
            for each in (a, b):
                if type(each) is Opaque:
                    self.need(each, _NOT_SUPPORTED[name])
        freeze = self.freezer.freeze
        return term(OP, name, freeze(a), freeze(b))

    def need(self, value: Opaque, what: str) -> None:
        """The operation fails on None."""
        if value in self._nones and self.world.has_none(value):
            raise TypeError(f"{what} of 'NoneType'")
        self.implicit.add(value)

    def operate(self, name: str, *operands: Any) -> Any:
        nones, implicit = self._nones, self.implicit
        for each in operands:
            if type(each) is Opaque:
                if each in nones:
                    self.need(each, f"unsupported operand type for {name}:")
                implicit.add(each)
        if name == "add" and len(operands) == 2:
            whole = self._concatenated(*operands)
            if whole is not None:
                return whole
        return term(OP, name, *map(self.freezer.freeze, operands))

    def operate_in_place(self, name: str, a: Any, b: Any) -> Any:
        """`a += b`: on a number or a text a new value, on an array a change of the array; which, nobody knows."""
        if type(b) is str or (type(b) is Opaque and b._u_kind == "text") or _is_fixed(a):
            return self.operate(name, a, b)
        if type(b) in (list, tuple, dict, set) and type(a) is Opaque:
            self.need(a, f"unsupported operand type for {name}=:")
            self.record(
                "in place", name, a, self.freezer.freeze(b)
            )  # what can be joined with such a thing is changed itself
            self.touched[a] = self.events[-1]
            return a
        self.need(a, f"unsupported operand type for {name}=:")
        return term(OP, f"i{name}", a, self.freezer.freeze(b))

    def _concatenated(self, a: Any, b: Any) -> Any:
        pieces: list[Any] = []
        for each in (a, b):
            if type(each) is str:
                pieces.extend(text_parts(each))
            elif type(each) is Opaque:
                pieces.append((each, ""))
            else:
                return None
        if not any(type(each) is str or (type(each) is Opaque and each._u_kind is TEXT) for each in (a, b)):
            return None
        return joined(pieces)

    def sizes(self, value: Opaque) -> int:
        """How many items there are: 0, 1 or 2, unless what was said of the size asks for more."""
        self.need(value, "'len' and iteration")
        value = self.latest(value)
        known = self.world.known(length_of(value))
        options: tuple[int, ...] = _SIZES
        about = self.world.known(value)
        if about is not None and about.truth_value():
            options = (1, 2)
        if known is not None:
            options = tuple(each for each in options if known.equals(each) is not False)
            if known.equal is not MISSING:
                options = (int(known.equal),)
            if not options:
                options = (int(known.low or 0) + 1,)
        if options[0] > 64:
            raise Stopped(f"a loop of {options[0]} rounds")
        return int(self.world.ask(("size", value), options))

    def length(self, value: Opaque) -> int:
        return self.sizes(value)

    def iterate(self, value: Opaque) -> Iterator[Any]:
        size = self.sizes(value)
        return iter([term(ITEM, self.latest(value), each, None) for each in range(size)])

    def contains(self, value: Opaque, item: Any) -> bool:
        self.need(value, "'in'")
        latest = self.latest(value)
        question = ("true", term(OP, "contains", latest, self.freezer.freeze(item)))
        about = self.world.known(latest)
        if about is not None and (about.size == 0 or about.truth is False) and question not in self.world.answers:
            return False
        return bool(self.world.ask(question))

    def whole(self, value: Opaque) -> int:
        """A number where Python itself must have one (an index, a count): 1, 2 or 0."""
        self.need(value, "an index")
        about = self.world.facts.about(value)
        options = tuple(each for each in _SIZES if about.equals(each) is not False) or (3,)
        return int(self.world.ask(("whole", value), options))

    def marked(self, value: Opaque, spec: str = "") -> str:
        if value._u_kind is ATTR and value._u_parts[1] == "__name__":
            return mark(value, spec)
        return mark(value, spec)


def _is_fixed(value: Any) -> bool:
    """Whether a value is a number or a text, or computed from some."""
    if type(value) is not Opaque:
        return isinstance(value, int | float | str)
    if value in fixed:
        return True
    return value._u_kind is OP and value._u_parts[0] in _COMPUTED and all(map(_is_fixed, value._u_parts[1:]))


_DECIDE: dict[str, Callable[..., Any]] = {
    name.removeprefix("_truth_"): method for name, method in vars(Questions).items() if name.startswith("_truth_")
}
