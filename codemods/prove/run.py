"""One twin in one world: what it did, in order, and what it may see.

Records calls on collaborators, writes, `with`, iteration, output; makes the one call raise that the world has chosen.
Reads are kept apart from effects: they show only where they come earlier or on more paths (compare.py)."""

from __future__ import annotations

from collections.abc import Callable, Generator
from typing import Any

from codemods.prove.anew import Anew
from codemods.prove.call_terms import BARE, Results, are_themselves, results_of
from codemods.prove.errors import Fault, Stopped
from codemods.prove.following import Place, subject_stack
from codemods.prove.freeze import Freezer
from codemods.prove.handing import Handing
from codemods.prove.opaque import ABSENT, ATTR, CALL, EVENT, GLOBAL, ITEM, OP, Opaque, attribute, term
from codemods.prove.outside import base_of
from codemods.prove.questions import Questions
from codemods.prove.world import World

_GONE: Any = object()
MOST_EVENTS = 20_000
_OF_THE_END = ("stopped", "unsupported")  # what is recorded when a run is over, this way too
_NO_ITEM: dict[str, type[Exception]] = {"KeyError": KeyError, "IndexError": IndexError, "LookupError": KeyError}


def _itself(value: Any) -> Any:
    return value


def _none(_: Any) -> None:
    return None


class Run(Questions):
    """`trace`: keep the place of each event (slower; for reports)."""

    base_of = staticmethod(base_of)
    guard = 0
    handing: Handing | None = None
    anew: Anew | None = None
    takes_sent = False  # whether what a generator is sent matters
    is_plain = False  # a fault outside of code that would see it ends the run, and nothing else comes after it
    places: list[tuple[str, int]] | None = None
    expected: frozenset[str] = frozenset()  # what the code that is on would see of reads that fail (runtime.py)
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
        self.is_wide: Callable[[], bool] = bool  # whether there is code that would see more than an Exception
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

    def keep(self, value: Any) -> None:
        """A value that the last effect has put somewhere."""
        if self.handing is not None:
            self.handing.kept(value, self.events[-1])

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
        anew = self.anew
        if anew is not None and anew.read(found):
            return anew.version
        if self._lacking and (base, name) in self._lacking and found not in self.heap:
            world.reach = len(world.trail)
            raise AttributeError(f"object has no attribute '{name}'")
        if self.expected:
            self._expect(base, name, found)
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
        if anew is None or found is not anew.watched:
            self.fresh.add(found)
        return found

    def _expect(self, base: Opaque, name: str, found: Opaque) -> None:
        """An attribute that code may be prepared not to find."""
        is_expected = "AttributeError" in self.expected and found not in self.heap
        if is_expected and not self.world.ask(("has", base, name)):
            raise AttributeError(f"object has no attribute '{name}'")

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
        if (self.expected or self.world.facts.missing) and found not in self.heap:
            self._expect_item(found)
        return self.heap.get(found, found)

    def _expect_item(self, found: Opaque) -> None:
        """An item that code, here or on the other side, is prepared not to find."""
        world, question = self.world, ("item", found)
        kinds = sorted(self.expected & _NO_ITEM.keys())
        if kinds and world.told(("true", term(OP, "contains", *found._u_parts[:2]))) is not True:
            world.ask(question, (True, *kinds))
        if found in world.facts.missing:
            world.reach = len(world.trail)
            raise _NO_ITEM[world.answers[question]](found._u_parts[1])

    def has(self, base: Opaque, name: str) -> bool:
        """`hasattr`."""
        found = attribute(base, name)
        if self.anew is not None and self.anew.read(found):
            return True
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
        self.keep(value)
        if self.anew is not None and base._u_kind is not GLOBAL:
            self.anew.note(found)
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
        self.keep(value)
        self.touched[base] = found
        self.heap[term(ITEM, self.latest(base), self.freezer.freeze(key), None)] = value

    def discard(self, base: Opaque, key: Any) -> None:
        found = term(ITEM, base, self.freezer.freeze(key), None)
        self.record("delete item", found)
        self.touched[base] = found

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
        results: Results | None = callee._u_attrs.get(BARE) if not args and not kwargs else None
        if results is None:
            results = results_of(callee, args, kwargs, self.freezer.freeze)
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
        if (args or kwargs) and self.handing is not None and not are_themselves(args, kwargs):
            self.handing.given([*args, *kwargs.values()], result)
        if results.touched:
            touched = self.touched
            for each in results.touched:
                touched[each] = result
        if result is self.world.fault:
            raise Fault(result)
        if self.anew is not None:
            self.anew.called(result, results.touched)
        return self.given(result) if self.world.values and result in self.world.values else result

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
