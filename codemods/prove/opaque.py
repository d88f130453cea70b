"""Opaque values: what stands for everything that is not in the two trees. One object a term, so equal terms are one.

An opaque value answers attribute reads, calls, arithmetic, comparison, iteration, `with`, `await` with new terms. What
an answer means on a path (decisions, effects) is the run's, which `current` names; text of terms is terms.py's."""

from __future__ import annotations

from collections.abc import Callable, Generator, Iterator
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from codemods.prove.run import Run

ROOT, GLOBAL, ATTR, ITEM, CALL, OP, TEXT, EVENT = "root", "global", "attr", "item", "call", "op", "text", "event"


class Current:
    """The run that opaque values answer to: one at a time in a process."""

    run: Run


current = Current()


class Opaque:
    """A value that nobody needs to know. `_u_kind` and `_u_parts` say which; never made but by `term`."""

    __slots__ = ("_u_attrs", "_u_kind", "_u_parts")
    _u_kind: str
    _u_parts: tuple[Any, ...]
    _u_attrs: dict[Any, Any]  # what was made of it before: attributes by name, results of calls by arguments

    def __getattr__(self, name: str) -> Any:
        return current.run.read(self, name)

    def __setattr__(self, name: str, value: object) -> None:
        current.run.write(self, name, value)

    def __delattr__(self, name: str) -> None:
        current.run.delete(self, name)

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        return current.run.call(self, args, kwargs)

    def __getitem__(self, key: Any) -> Any:
        return current.run.item(self, key)

    def __setitem__(self, key: Any, value: Any) -> None:
        current.run.store(self, key, value)

    def __delitem__(self, key: Any) -> None:
        current.run.discard(self, key)

    def __bool__(self) -> bool:
        return current.run.truth(self)

    def __iter__(self) -> Iterator[Any]:
        return current.run.iterate(self)

    def __next__(self) -> Any:
        return current.run.call(current.run.read(self, "__next__"), (), {})

    def __reversed__(self) -> Iterator[Any]:
        return current.run.iterate(term(OP, "reversed", self))

    def __contains__(self, value: Any) -> bool:
        return current.run.contains(self, value)

    def __len__(self) -> int:
        return current.run.length(self)

    def __eq__(self, other: object) -> Any:
        return current.run.compare("eq", self, other)

    def __ne__(self, other: object) -> Any:
        return current.run.compare("ne", self, other)

    def __lt__(self, other: Any) -> Any:
        return current.run.compare("lt", self, other)

    def __le__(self, other: Any) -> Any:
        return current.run.compare("le", self, other)

    def __gt__(self, other: Any) -> Any:
        return current.run.compare("gt", self, other)

    def __ge__(self, other: Any) -> Any:
        return current.run.compare("ge", self, other)

    __hash__ = object.__hash__

    def __str__(self) -> Any:
        return current.run.marked(self)

    __repr__ = __str__

    def __format__(self, spec: str) -> Any:
        return current.run.marked(self, spec)

    def __index__(self) -> int:
        return current.run.whole(self)

    def __int__(self) -> int:
        return current.run.whole(self)

    def __float__(self) -> float:
        return float(current.run.whole(self))

    def __enter__(self) -> Any:
        return current.run.enter(self)

    def __exit__(self, *error: Any) -> Any:
        return current.run.leave(self, error)

    async def __aenter__(self) -> Any:
        return current.run.enter(self, "async with")

    async def __aexit__(self, *error: Any) -> Any:
        return current.run.leave(self, error, "async with")

    def __await__(self) -> Generator[Any, Any, Any]:
        return current.run.wait(self)

    def __aiter__(self) -> Any:
        return _Steps(current.run.iterate(self))

    def __mro_entries__(self, bases: tuple[Any, ...]) -> tuple[type, ...]:
        return (current.run.base_of(self),)

    def __instancecheck__(self, value: object) -> bool:
        return current.run.is_instance(value, self)

    def __subclasscheck__(self, other: object) -> bool:
        return current.run.truth(term(OP, "issubclass", other, self))

    def __copy__(self) -> Any:
        return term(OP, "copy", self)

    def __deepcopy__(self, memo: object) -> Any:
        return term(OP, "deepcopy", self)

    def __reduce__(self) -> Any:
        raise TypeError("an Opaque value can't be pickled")


class _Steps:
    """`async for` over what can be iterated."""

    def __init__(self, steps: Iterator[Any]) -> None:
        self._steps = steps

    def __aiter__(self) -> _Steps:
        return self

    async def __anext__(self) -> Any:
        for each in self._steps:
            return each
        raise StopAsyncIteration


_BINARY = """
    add sub mul matmul truediv floordiv mod pow lshift rshift and xor or divmod
""".split()
_UNARY = ["neg", "pos", "abs", "invert", "ceil", "floor", "trunc"]


def _binary(name: str) -> Callable[[Any, Any], Any]:
    return lambda self, other: current.run.operate(name, self, other)


def _mirrored(name: str) -> Callable[[Any, Any], Any]:
    return lambda self, other: current.run.operate(name, other, self)


def _in_place(name: str) -> Callable[[Any, Any], Any]:
    return lambda self, other: current.run.operate_in_place(name, self, other)


def _unary(name: str) -> Callable[[Any], Any]:
    return lambda self: current.run.operate(name, self)


for _name in _BINARY:
    setattr(Opaque, f"__{_name}__", _binary(_name))
    setattr(Opaque, f"__r{_name}__", _mirrored(_name))
    if _name != "divmod":
        setattr(Opaque, f"__i{_name}__", _in_place(_name))
for _name in _UNARY:
    setattr(Opaque, f"__{_name}__", _unary(_name))
Opaque.__round__ = lambda self, *digits: current.run.operate("round", self, *digits)  # type: ignore[attr-defined]

_terms: dict[tuple[Any, ...], Opaque] = {}
_slots: Any = vars(Opaque)
_set_kind, _set_parts, _set_attrs = (_slots[each].__set__ for each in ("_u_kind", "_u_parts", "_u_attrs"))


def term(kind: str, *parts: Any) -> Opaque:
    """The one opaque value of these parts (frozen ones: see freeze.py)."""
    key = (kind, *parts)
    found = _terms.get(key)
    if found is None:
        found = _terms[key] = Opaque.__new__(Opaque)
        _set_kind(found, kind)
        _set_parts(found, parts)
        _set_attrs(found, {})
    return found


# What Python and the standard library look for on whatever they are given: an opaque value has none of it.
ABSENT = frozenset(
    """
        __wrapped__ __set_name__ __fspath__ __length_hint__ __index__ __array__ __isabstractmethod__
        __text_signature__ __signature__ __get__ __set__ __delete__ __prepare__ __abstractmethods__
        __annotations__ __conform__ __instancecheck__ __init_subclass__ __class_getitem__ __slots__ __copy__
        __deepcopy__ __reduce_ex__ __getstate__
    """.split()
)


def attribute(base: Opaque, name: str) -> Opaque:
    """The attribute of a value as it is at the start; of a module outside the trees, the thing of that dotted name."""
    attrs = base._u_attrs
    found: Opaque | None = attrs.get(name)
    if found is None:
        is_outside = base._u_kind is GLOBAL
        found = term(GLOBAL, f"{base._u_parts[0]}.{name}") if is_outside else term(ATTR, base, name, None)
        if name not in ABSENT:
            attrs[name] = found
    return found


LEN = ("len",)  # no name of an attribute


def length_of(base: Opaque) -> Opaque:
    """`len(base)`."""
    found: Opaque | None = base._u_attrs.get(LEN)
    if found is None:
        found = base._u_attrs[LEN] = term(OP, "len", base)
    return found


forgetting: list[Callable[[], None]] = [_terms.clear]  # what else keeps something of terms adds itself


fixed: set[Opaque] = set()  # what holds a number or a text, which nothing changes in place
forgetting.append(fixed.clear)


def forget() -> None:
    """Drop every term; before another pair, so that memory does not grow with the number of pairs."""
    for each in forgetting:
        each()
