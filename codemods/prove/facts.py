"""What a world has decided about its opaque values, and what follows from that, so that no impossible path is walked.

Equality with constants, None, order against numbers, classes, size and truth of one value are kept together. Relations
between two opaque values are remembered as asked and never reasoned about."""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType
from typing import Any

from codemods.prove.opaque import OP, TEXT, Opaque, length_of

MISSING: Any = object()
_DISJOINT = (str, bytes, int, float, list, tuple, dict, set, frozenset, type(None))
_NEVER_NONE = frozenset(
    """
        add sub mul matmul truediv floordiv mod pow lshift rshift and xor or divmod neg pos abs invert len not
        eq ne lt le gt ge contains isinstance issubclass int float str repr bool sorted list tuple dict set
        range round type id hash
    """.split()
)
_TRUTHS = frozenset("eq ne lt le gt ge contains isinstance issubclass not bool callable has".split())


class About:
    """What is known of one value. Most values never have more than one thing said of them: the rest stays the
    class's."""

    none: bool | None = None
    truth: bool | None = None
    equal: Any = MISSING
    unequal: tuple[Any, ...] = ()
    low: float | None = None
    high: float | None = None
    low_open = high_open = False
    isa: Mapping[Any, bool] = MappingProxyType({})
    size: int | None = None

    def learn_is_a(self, kind: Any, answer: bool) -> None:
        self.isa = {**self.isa, kind: answer}

    def truth_value(self) -> bool | None:
        """Whether it counts as true; None when both are possible."""
        if self.truth is not None:
            return self.truth
        if self.none:
            return False
        if self.equal is not MISSING:
            return bool(self.equal)
        if self.size is not None:
            return self.size > 0
        is_number = self.low is not None or self.high is not None
        if self._is_outside(0) or (is_number and any(each == 0 for each in self.unequal)):
            return True
        return False if self.low == self.high == 0 else None

    def is_none(self) -> bool | None:
        """Whether it is None; None when both are possible."""
        if self.none is not None:
            return self.none
        if self.equal is not MISSING or self.truth or self.low is not None or self.high is not None or self.size:
            return False
        if any(answer and each is not type(None) and each is not object for each, answer in self.isa.items()):
            return False
        return None

    def equals(self, constant: Any) -> bool | None:
        """Whether it equals a constant that is not None."""
        if self.equal is not MISSING:
            return bool(self.equal == constant)
        if self.none:
            return False
        if any(each == constant for each in self.unequal):
            return False
        if self.truth is not None and bool(constant) != self.truth:
            return False
        if isinstance(constant, int | float):
            if self._is_outside(constant):
                return False
            if self.low is not None and self.low == self.high:
                return True
            if self.truth is False and (self.low is not None or self.high is not None):
                return constant == 0
        if isinstance(constant, str | bytes | tuple) and self.size is not None and len(constant) != self.size:
            return False
        if any(answer != isinstance(constant, each) for each, answer in self.isa.items() if isinstance(each, type)):
            return False
        return None

    def _is_outside(self, number: float) -> bool:
        low, high = self.low, self.high
        if low is not None and (number < low or (number == low and self.low_open)):
            return True
        return high is not None and (number > high or (number == high and self.high_open))

    def below(self, number: float, *, or_equal: bool) -> bool | None:
        """Whether it is less than a number (or equal to it)."""
        if self.equal is not MISSING:
            try:
                return bool(self.equal <= number if or_equal else self.equal < number)
            except TypeError:
                return None
        if self.truth is False:
            return number > 0 or (or_equal and number == 0)  # what has an order among numbers, and is false, is zero
        low, high = self.low, self.high
        is_other = (self.truth and number == 0) or any(each == number for each in self.unequal)
        if high is not None and (high < number or (high == number and (or_equal or is_other or self.high_open))):
            return True
        if low is not None and (low > number or (low == number and (not or_equal or is_other or self.low_open))):
            return False
        return None

    def learn_below(self, number: float, answer: bool, *, or_equal: bool) -> None:
        """Keep the answer to `below` as a bound."""
        if answer and (self.high is None or number < self.high or (number == self.high and not or_equal)):
            self.high, self.high_open = number, not or_equal
        if not answer and (self.low is None or number > self.low or (number == self.low and or_equal)):
            self.low, self.low_open = number, or_equal

    def is_a(self, kind: Any) -> bool | None:
        """Whether it is an instance of a class (a real one, or the term of one)."""
        if kind is object:
            return True
        if self.none:
            return kind is type(None)
        if self.equal is not MISSING and isinstance(kind, type):
            return isinstance(self.equal, kind)
        if kind in self.isa:
            return self.isa[kind]
        if not isinstance(kind, type):
            return None
        for known, answer in self.isa.items():
            if not isinstance(known, type):
                continue
            if answer and issubclass(known, kind):
                return True
            if answer and _is_apart(known, kind):
                return False
            if not answer and issubclass(kind, known):
                return False
        return None


def _is_apart(one: type, other: type) -> bool:
    """Whether nothing is an instance of both: they come from different ones of the builtin classes."""
    roots = [next((each for each in _DISJOINT if issubclass(kind, each)), None) for kind in (one, other)]
    return None not in roots and roots[0] is not roots[1]


class Facts:
    """What is known of every value of one world."""

    def __init__(self) -> None:
        self._about: dict[Opaque, About] = {}
        self.nones: set[Opaque] = set()
        self.lacking: set[tuple[Any, ...]] = set()  # values and names of attributes that they do not have
        self.missing: set[Opaque] = set()  # items that are not there

    def about(self, value: Opaque) -> About:
        found = self._about.get(value)
        if found is None:
            found = self._about[value] = About()
            kind = value._u_kind
            if kind is not TEXT and kind is not OP:
                return found
            if value._u_kind is TEXT:
                found.none = False
                found.learn_is_a(str, True)
                if any(isinstance(part, str) and part for part in value._u_parts):
                    found.truth = True
            elif value._u_kind is OP and value._u_parts[0] in _NEVER_NONE:
                found.none = False
                if value._u_parts[0] == "len":
                    found.low = 0.0
        return found

    def known(self, value: Opaque) -> About | None:
        return self._about.get(value)

    def implied(self, question: tuple[Any, ...]) -> Any:
        """The answer that follows from earlier ones; MISSING when the world is free."""
        kind = question[0]
        if len(question) == 1 or type(question[1]) is not Opaque:
            return MISSING
        about = self._about.get(question[1])
        if about is None:
            if question[1]._u_kind is not OP and question[1]._u_kind is not TEXT:
                return MISSING
            about = self.about(question[1])
        answer: Any = None
        if kind == "true":
            answer = about.truth_value()
        elif kind == "none":
            answer = about.is_none()
        elif kind == "eq":
            answer = about.equals(question[2])
        elif kind in ("lt", "le"):
            answer = about.below(question[2], or_equal=kind == "le")
            if answer is not None and about.none is None:
                about.none = False  # what has an order is something
            if about.truth is False and about.low is None and about.high is None:
                about.low = about.high = 0.0
        elif kind == "isa":
            answer = about.is_a(question[2])
        elif kind == "size":
            answer = self._size(about)
        return MISSING if answer is None else answer

    @staticmethod
    def _size(about: About) -> int | None:
        if about.size is not None:
            return about.size
        if about.truth is False:
            return 0
        return None

    def learn(self, question: tuple[Any, ...], answer: Any) -> None:
        kind = question[0]
        if len(question) == 1 or type(question[1]) is not Opaque:
            return
        about = self.about(question[1])
        if kind == "true":
            about.truth = answer
            if answer and about.none is None:
                about.none = False
            self._learn_inside(question[1], answer)
        elif kind == "none":
            about.none = answer
            if answer:
                self.nones.add(question[1])
        elif kind == "eq":
            if answer:
                about.equal, about.none = question[2], False
            else:
                about.unequal = (*about.unequal, question[2])
        elif kind in ("lt", "le"):
            about.learn_below(question[2], answer, or_equal=kind == "le")
        elif kind == "isa":
            about.learn_is_a(question[2], answer)
            if answer and question[2] is type(None):
                about.none = True
                self.nones.add(question[1])
        elif kind == "size":
            about.size = answer
            about.none = False
            self.about(length_of(question[1])).equal = answer
        elif kind == "whole":
            about.equal, about.none = answer, False
        elif kind in ("has", "item") and answer is not True:
            self._learn_absence(*question)

    def _learn_absence(self, kind: str, value: Opaque, *name: Any) -> None:
        if kind == "has":
            self.lacking.add((value, *name))
        else:
            self.missing.add(value)

    def _learn_inside(self, value: Opaque, answer: Any) -> None:
        """What something is in is not empty."""
        if answer and value._u_kind is OP and value._u_parts[0] == "contains" and type(value._u_parts[1]) is Opaque:
            container = self.about(value._u_parts[1])
            if container.truth_value() is None:
                container.truth, container.none = True, False


def is_truth(value: Opaque) -> bool:
    """Whether the value is a comparison or the like: True or False once the world has decided."""
    return value._u_kind is OP and value._u_parts[0] in _TRUTHS
