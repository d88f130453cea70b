"""A dict, list or set of a module or class that functions change, as its users see it: it behaves as one, and what it
holds is for contents.py to say."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Iterator, MutableSet
from typing import Any

from codemods.prove.contents import GONE, Contents, ContentsOfSet
from codemods.prove.errors import Unsupported
from codemods.prove.freeze import mark


class OpenDict(dict[Any, Any]):
    """What is kept of it is in `_u_held`; as a dict it is empty."""

    _u_table = True

    def __init__(self, key: str, changers: Collection[str], factory: Callable[[], Any] | None = None) -> None:
        super().__init__()
        self._u_held, self.default_factory = Contents(key, changers), factory

    def __contains__(self, key: Any) -> bool:
        return self._u_held.find(key) is not GONE

    def __getitem__(self, key: Any) -> Any:
        found = self._u_held.find(key)
        if found is GONE:
            return self.__missing__(key)
        return found

    def __missing__(self, key: Any) -> Any:
        if self.default_factory is None:
            raise KeyError(key)
        made = self.default_factory()
        self._u_held.put(key, made)
        return made

    def get(self, key: Any, default: Any = None) -> Any:
        found = self._u_held.find(key)
        return default if found is GONE else found

    def __setitem__(self, key: Any, value: Any) -> None:
        self._u_held.put(key, value)

    def __delitem__(self, key: Any) -> None:
        self._u_held.remove(key)

    def setdefault(self, key: Any, default: Any = None) -> Any:
        found = self._u_held.find(key)
        if found is GONE:
            self._u_held.put(key, default)
            return default
        return found

    def pop(self, key: Any, *default: Any) -> Any:
        if default and self._u_held.find(key) is GONE:
            return default[0]
        return self._u_held.remove(key)

    def popitem(self) -> tuple[Any, Any]:
        items = self._u_held.items()
        if not items:
            raise KeyError("popitem(): dictionary is empty")
        self._u_held.put(items[-1][0], GONE)
        return items[-1]

    def clear(self) -> None:
        for pair in self._u_held.items():
            self._u_held.put(pair[0], GONE)

    def update(self, *others: Any, **named: Any) -> None:
        for key, value in dict(*others, **named).items():
            self._u_held.put(key, value)

    def __ior__(self, other: Any) -> OpenDict:
        self.update(other)
        return self

    def copy(self) -> dict[Any, Any]:
        return dict(self._u_held.items())

    __copy__ = copy

    def __deepcopy__(self, memo: object) -> Any:
        raise Unsupported("a deep copy of a table with unknown contents")

    def __or__(self, other: Any) -> Any:
        return self.copy() | other

    def __ror__(self, other: Any) -> Any:
        return other | self.copy()

    def keys(self) -> Any:
        return self.copy().keys()

    def values(self) -> Any:
        return self.copy().values()

    def items(self) -> Any:
        return self.copy().items()

    def __iter__(self) -> Iterator[Any]:
        return iter([key for key, _ in self._u_held.items()])

    def __reversed__(self) -> Iterator[Any]:
        return iter([key for key, _ in self._u_held.items()][::-1])

    def __len__(self) -> int:
        return len(self._u_held.items())

    def __bool__(self) -> bool:
        return len(self) > 0

    def __eq__(self, other: object) -> bool:
        return self is other or self.copy() == other

    def __ne__(self, other: object) -> bool:
        return not self == other

    __hash__ = None

    def __repr__(self) -> str:
        return mark(self._u_held.frozen())


class OpenList(list[Any]):
    """The same for a list: items are added without a look at those before."""

    _u_table = True

    def __init__(self, key: str, changers: Collection[str]) -> None:
        super().__init__()
        self._u_held = Contents(key, changers)

    def append(self, value: Any) -> None:
        self.extend((value,))

    def extend(self, values: Iterable[Any]) -> None:
        new = list(values)
        held = self._u_held
        held.now()
        (held.tail if held.whole is None else held.whole).extend(new)

    def __iadd__(self, values: Iterable[Any]) -> OpenList:  # type: ignore[misc]
        self.extend(values)
        return self

    def __repr__(self) -> str:
        return mark(self._u_held.frozen())

    def __ne__(self, other: object) -> bool:
        return not self == other

    def __copy__(self) -> list[Any]:
        return list(self._u_held.all())

    def __deepcopy__(self, memo: object) -> Any:
        raise Unsupported("a deep copy of a list with unknown contents")

    __hash__ = None


_WHOLE = """
    __len__ __iter__ __getitem__ __setitem__ __delitem__ __contains__ __reversed__ __eq__ __lt__ __le__ __gt__ __ge__
    __add__ __mul__ __rmul__ __imul__ index count copy insert pop remove clear sort reverse
""".split()


def _of_whole(name: str) -> Callable[..., Any]:
    method = getattr(list, name)

    def made(self: OpenList, *args: Any, **kwargs: Any) -> Any:
        given = [list(each._u_held.all()) if isinstance(each, OpenList) else each for each in args]
        found = method(self._u_held.all(), *given, **kwargs)
        return self if name == "__imul__" else found

    return made


for _name in _WHOLE:
    setattr(OpenList, _name, _of_whole(_name))


class OpenSet(MutableSet[Any]):
    """The same for a set. No subclass of one: what is in a set, the C code of others reads without asking."""

    _u_table = True

    def __init__(self, key: str, changers: Collection[str]) -> None:
        self._u_held = ContentsOfSet(key, changers)

    @property  # type: ignore[misc]
    def __class__(self) -> type:
        return set

    @classmethod
    def _from_iterable(cls, values: Iterable[Any]) -> Any:
        return set(values)

    def __contains__(self, value: object) -> bool:
        return self._u_held.find(value) is not GONE

    def __iter__(self) -> Iterator[Any]:
        return iter([key for key, _ in self._u_held.items()])

    def __len__(self) -> int:
        return len(self._u_held.items())

    def add(self, value: Any) -> None:
        self._u_held.put(value, True)

    def discard(self, value: Any) -> None:
        if value in self:
            self._u_held.put(value, GONE)

    def clear(self) -> None:
        for pair in self._u_held.items():
            self._u_held.put(pair[0], GONE)

    def update(self, *others: Iterable[Any]) -> None:
        for other in others:
            for each in list(other):
                self.add(each)

    def difference_update(self, *others: Iterable[Any]) -> None:
        for other in others:
            for each in list(other):
                self.discard(each)

    def intersection_update(self, *others: Iterable[Any]) -> None:
        for other in others:
            self &= set(other)

    def copy(self) -> set[Any]:
        return set(self)

    __copy__ = copy

    def __repr__(self) -> str:
        return mark(self._u_held.frozen())


def _as_set(name: str) -> Callable[..., Any]:
    return lambda self, *others: getattr(set(self), name)(*[set(each) for each in others])


for _name in ("union", "intersection", "difference", "symmetric_difference", "issubset", "issuperset", "isdisjoint"):
    setattr(OpenSet, _name, _as_set(_name))

OPEN = (OpenDict, OpenList, OpenSet)
