"""One twin in one world: what it did, in order, and what it may see.

Records calls on collaborators, writes, `with`, iteration, output; makes the one call raise that the world has chosen.
Reads are kept apart from effects: they show only where they come earlier or on more paths (compare.py)."""

from __future__ import annotations

from collections.abc import Callable, Generator
from typing import Any

from codemods.prove import bindings
from codemods.prove.errors import Fault, Stopped
from codemods.prove.following import Place, subject_stack
from codemods.prove.freeze import Freezer
from codemods.prove.opaque import ABSENT, ATTR, CALL, EVENT, GLOBAL, ITEM, OP, Opaque, attribute, fixed, term
from codemods.prove.outside import base_of
from codemods.prove.questions import Questions
from codemods.prove.world import World

_GONE: Any = object()
MOST_EVENTS = 20_000
_OF_THE_END = ("stopped", "unsupported")  # what is recorded when a run is over, this way too
_ITSELF = frozenset([Opaque, str, int, type(None)])  # values that freezing leaves as they are (a text with marks aside)
_CALLED = "()"  # no name of an attribute
_COMPUTED = frozenset(["add", "sub", "mul", "floordiv", "mod"])
_BARE = ((), None)  # a call without arguments, as it is written


class _Results:
    """The results of calls with the same arguments: of the first, second, ... in a run. `touched`: what such a call was
    given, which may be another thing afterwards."""

    __slots__ = ("terms", "touched")

    def __init__(self, first: Opaque) -> None:
        self.terms = [first]
        callee, given, named, _ = first._u_parts
        values = [*given, *(value for _, value in named or ())]
        touched = [each for each in values if type(each) is Opaque and each._u_kind is not GLOBAL]
        if callee._u_kind is ATTR and type(callee._u_parts[0]) is Opaque:
            touched.append(callee._u_parts[0])
        self.touched = tuple(dict.fromkeys(touched))


def _is_fixed(value: Any) -> bool:
    """Whether a value is a number or a text, or computed from some."""
    if type(value) is not Opaque:
        return isinstance(value, int | float | str)
    if value in fixed:
        return True
    return value._u_kind is OP and value._u_parts[0] in _COMPUTED and all(map(_is_fixed, value._u_parts[1:]))


def _itself(value: Any) -> Any:
    return value


def _none(_: Any) -> None:
    return None


class Run(Questions):
    """`trace`: keep the place of each event (slower; for reports)."""

    base_of = staticmethod(base_of)
    guard = 0
    is_plain = False  # a fault outside of code that would see it ends the run, and nothing else comes after it
    places: list[tuple[str, int]] | None = None
    _ticks = 0
    made = 0

    def __init__(self, world: World, freezer: Freezer, *, trace: bool = False) -> None:
        self.world, self.freezer = world, freezer
        world.reach = 0
        self._nones, self._lacking = world.facts.nones, world.facts.lacking
        self.events: list[Opaque] = []  # one term an effect; a call is its result
        self.reaches: list[int] = []  # how much of the world's trail the run had looked at before each
        self.guarded: set[int] = set()  # the events at which code was on that would see an exception pass
        self.reads: dict[Opaque, int] = {}
        self.read_at: dict[Opaque, tuple[Place, ...]] = {}  # with trace: the lines that led to each of them
        self.fresh: set[Opaque] = set()  # attributes that were read and can have no other value now
        self.implicit: set[Opaque] = set()
        self.touched: dict[Opaque, Opaque] = {}
        self.heap: dict[Opaque, Any] = {}
        self.env: dict[str, Any] = {}
        self._counts: dict[Any, int] = {}
        self._given: dict[Opaque, Any] = {}
        self.make: Callable[[Any], Any] = _itself
        self.lone: Callable[[str], Any] = _none  # lone.py: methods that one side alone has
        self.written: dict[tuple[int, str], tuple[Place, ...]] = {}  # with trace: of attributes of instances
        self.left: list[Place] = []  # with trace: the last line that ran, and those of the calls that ended with it
        if trace:
            self.places = []
            self.stacks: list[tuple[Place, ...]] = []  # of each event: the lines that led to it, innermost first
            self.returned: list[tuple[Place, Any]] = []  # what the subject's functions gave back, and where

    def judged(self, found: list[Any], old: Run) -> list[Any]:  # noqa: ARG002
        """The differences of this run from the old side's as they count."""
        return found

    # -- what is recorded

    def record(self, kind: str, *payload: Any) -> None:
        self._keep(term(EVENT, kind, *payload))

    def _keep(self, event: Opaque) -> None:
        events = self.events
        events.append(event)
        self.reaches.append(self.world.reach)
        if self.guard:
            self.guarded.add(len(events) - 1)
        if self.places is not None:
            stack = subject_stack() or tuple(self.left)
            self.places.append(stack[0] if stack else ("", 0))
            self.stacks.append(stack)
        if len(events) > MOST_EVENTS and event._u_parts[0] not in _OF_THE_END:
            raise Stopped("too many effects")

    def note_write(self, instance: Any, name: str) -> None:
        """An attribute of an instance that the subject made itself: no effect, but with a trace its place is kept."""
        if self.places is not None:
            self.written[id(instance), name] = subject_stack()

    def put_at(self, stack: tuple[Place, ...]) -> None:
        """The place of the last effect, where it is not where the subject is now."""
        if self.places is not None and stack:
            self.places[-1], self.stacks[-1] = stack[0], stack

    def tick(self) -> None:
        """One more round of a loop."""
        self._ticks += 1
        if self._ticks > 64:
            raise Stopped("a loop that goes on")

    # -- reads

    def read(self, base: Opaque, name: str) -> Any:
        found = base._u_attrs.get(name)  # never `or`: that would ask the value for its truth
        if found in self.fresh:
            return found
        if found is None:
            if name in ABSENT:
                raise AttributeError(name)
            found = attribute(base, name)
        if base._u_kind is GLOBAL:
            return self._of_module(found, name)
        world = self.world
        if base in self._nones:
            world.reach = len(world.trail)
            raise AttributeError(f"'NoneType' object has no attribute '{name}'")
        if self._lacking and (base, name) in self._lacking:
            world.reach = len(world.trail)
            raise AttributeError(f"object has no attribute '{name}'")
        self.implicit.add(base)
        if found in self.heap:
            value = self.heap[found]
            if value is _GONE:
                raise AttributeError(f"object has no attribute '{name}'")
            return value
        if found not in self.reads:
            self._note_read(found)
        if found in world.values:
            return self.given(found)
        self.fresh.add(found)
        return found

    def _note_read(self, found: Opaque) -> None:
        self.reads[found] = len(self.events)
        if self.places is not None:
            self.read_at[found] = subject_stack()

    def _of_module(self, found: Opaque, name: str) -> Any:
        value = self.heap.get(found, found)
        if value is _GONE:
            raise AttributeError(f"module has no attribute '{name}'")
        if value is found:
            self.fresh.add(found)
        return value

    def given(self, value: Opaque) -> Any:
        """The concrete value that the world has for an input: one of its own for each run, since it may be changed."""
        if value not in self._given:
            self._given[value] = self.make(self.world.values[value])
        return self._given[value]

    def changed_given(self) -> list[tuple[Opaque, Any]]:
        """The concrete values of inputs that are no longer what they were when they were given, by input."""
        found: list[tuple[Opaque, Any]] = []
        for each, now in self._given.items():
            if now is None or isinstance(now, str | bytes | int | float | Opaque):
                continue
            before = self.freezer.freeze(self.make(self.world.values[each]))
            if term(EVENT, "is", before) is not term(EVENT, "is", self.freezer.freeze(now)):
                found.append((each, now))
        return found

    def item(self, base: Opaque, key: Any) -> Any:
        self.need(base, "item")
        found = term(ITEM, self.latest(base), self.freezer.freeze(key), None)
        return self.heap.get(found, found)

    def has(self, base: Opaque, name: str) -> bool:
        """`hasattr`."""
        found = attribute(base, name)
        if found in self.heap:
            return self.heap[found] is not _GONE
        if self.world.has_none(base):
            return hasattr(None, name)
        if base._u_kind is GLOBAL or found not in self.reads:
            return bool(self.world.ask(("has", base, name)))
        return True

    # -- writes

    def write(self, base: Opaque, name: str, value: Any) -> None:
        if self.world.has_none(base):
            raise AttributeError(f"'NoneType' object has no attribute '{name}'")
        found = attribute(base, name)
        self.record("set", found, self.freezer.freeze(value))
        self.heap[found] = value
        self.fresh.discard(found)

    def delete(self, base: Opaque, name: str) -> None:
        found = attribute(base, name)
        self.record("delete", found)
        self.heap[found] = _GONE
        self.fresh.discard(found)

    def store(self, base: Opaque, key: Any, value: Any) -> None:
        self.need(base, "item assignment")
        found = term(ITEM, base, self.freezer.freeze(key), None)
        self.record("set item", found, self.freezer.freeze(value))
        self.touched[base] = found
        self.heap[term(ITEM, self.latest(base), self.freezer.freeze(key), None)] = value

    def discard(self, base: Opaque, key: Any) -> None:
        found = term(ITEM, base, self.freezer.freeze(key), None)
        self.record("delete item", found)
        self.touched[base] = found

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

    # -- calls

    def call(self, callee: Any, args: tuple[Any, ...], kwargs: dict[str, Any], *, is_quiet: bool = False) -> Any:
        """A call on a collaborator: an effect, and a new value. `is_quiet`: it only reads (a clock)."""
        if callee in self._nones and self.world.has_none(callee):
            raise TypeError("'NoneType' object is not callable")
        self.implicit.add(callee)
        if callee._u_kind is ATTR:
            method = self.lone(callee._u_parts[1])
            if method is not None:
                return method(callee._u_parts[0], *args, **kwargs)
        results: _Results | None = callee._u_attrs.get(_BARE) if not args and not kwargs else None
        if results is None:
            results = self._results(callee, args, kwargs)
        terms = results.terms
        result: Opaque = terms[0]
        count = self._counts.get(result, 0)
        self._counts[result] = count + 1
        if count:
            if count == len(terms):
                terms.append(term(CALL, callee, *result._u_parts[1:3], count))
            result = terms[count]
        if is_quiet:
            return result
        self._keep(result)
        if results.touched:
            touched = self.touched
            for each in results.touched:
                touched[each] = result
        if result is self.world.fault:
            raise Fault(result)
        return self.given(result) if self.world.values and result in self.world.values else result

    def _results(self, callee: Opaque, args: tuple[Any, ...], kwargs: dict[str, Any]) -> _Results:
        """What there is of calls with these arguments. Found at once where they are their own frozen forms."""
        known: Any = callee._u_attrs
        if _ITSELF.issuperset(map(type, args)) and (not kwargs or _ITSELF.issuperset(map(type, kwargs.values()))):
            written = (args, tuple(kwargs.items()) if kwargs else None)
            found: _Results | None = known.get(written)
            if found is None:
                named = frozenset(kwargs.items()) if kwargs else None
                found = known[written] = self._frozen_results(callee, tuple(map(self.freezer.freeze, args)), named)
            return found
        freeze = self.freezer.freeze
        named = frozenset([(name, freeze(value)) for name, value in kwargs.items()]) if kwargs else None
        return self._frozen_results(callee, tuple(map(freeze, args)), named)

    def _frozen_results(self, callee: Opaque, given: tuple[Any, ...], named: frozenset[Any] | None) -> _Results:
        """The same for frozen arguments: one for all ways to write a call."""
        if callee in bindings.known:
            args, kwargs = bindings.bound(callee, given, dict(named or ()), self.freezer.freeze)
            given, named = args, frozenset(kwargs.items()) or None
        known: Any = callee._u_attrs
        found: _Results | None = known.get((_CALLED, given, named))
        if found is None:
            found = known[_CALLED, given, named] = _Results(term(CALL, callee, given, named, 0))
        return found

    def _count(self, key: tuple[Any, ...]) -> int:
        count = self._counts.get(key, 0)
        self._counts[key] = count + 1
        return count

    def enter(self, value: Opaque, how: str = "with") -> Any:
        count = self._count(("enter", value))
        result = term(OP, "enter", value, count)
        self.record(how, result)
        if result is self.world.fault:
            raise Fault(result)
        return result

    def leave(self, value: Opaque, error: tuple[Any, ...], how: str = "with") -> bool:
        self.record(f"end {how}", value, None if not error or error[0] is None else self.freezer.freeze(error[1]))
        return False

    def wait(self, value: Opaque) -> Generator[Any, Any, Any]:
        result = term(OP, "await", value, self._count(("await", value)))
        self.record("await", result)
        if result is self.world.fault:
            raise Fault(result)
        return result
        yield  # type: ignore[unreachable]  # what makes this a generator, to be awaited
