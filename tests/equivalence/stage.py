"""The world in which an original and its replacement run in turn, and what is seen of each: calls on collaborators in
their order with what they were given, log records, the environment, the result or the exception, what was written.

Collaborators are stand-ins that answer what the world says, and any one call of a run may be made to fail. What is
plain arithmetic or reading of text stays real: both sides use the same."""

from __future__ import annotations

import logging
import sys
import types
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from typing import Any
from unittest.mock import patch

from msgspec import Struct

OLD_MODULE = "engine.runner.model_runner"


def always(**given: Any) -> dict[str, Callable[[], Any]]:
    """Fields that are these values in every run."""

    def maker(value: Any) -> Callable[[], Any]:
        return lambda: value

    return {name: maker(value) for name, value in given.items()}


class Fault(RuntimeError):
    """What no collaborator raises by itself."""


class Seen(Struct, frozen=True):
    """Of one run. raised: type, text and type of the cause. loggers: of the log records, in order. num_calls: on
    collaborators, so that each of them can be made to fail in another run."""

    events: list[Any]
    result: Any
    raised: tuple[str, str, str] | None
    writes: dict[str, Any]
    loggers: list[str]
    num_calls: int


class Stage:
    """One run at a time. The stand-ins of both sides ask it."""

    def __init__(self) -> None:
        self.world: Mapping[str, Any] = {}
        self.events: list[Any] = []
        self.loggers: list[str] = []
        self.num_calls = 0
        self.fault_at: int | None = None
        self.fault: type[BaseException] = Fault
        self.things: dict[str, Thing] = {}

    def called(self, name: str, args: tuple[Any, ...], kwargs: dict[str, Any], answer: Any = None) -> Any:
        self.events.append(("call", name, *map(shown, args), *sorted((key, shown(it)) for key, it in kwargs.items())))
        self.num_calls += 1
        if self.fault_at == self.num_calls - 1:
            raise self.fault(f"the call of {name} fails")
        return answer() if callable(answer) else answer

    def thing(self, name: str, answers: Mapping[str, Any] | None = None, **attributes: Any) -> Thing:
        """An object that is known by its name: the same one throughout a run."""
        if name not in self.things:
            self.things[name] = Thing(self, name, answers or {}, attributes)
        return self.things[name]

    def run(
        self,
        function: Callable[..., Any],
        world: Mapping[str, Any],
        fields: Mapping[str, Callable[[], Any]] | None = None,
        *,
        call: Callable[[Callable[..., Any], Any], Any] = lambda function, runner: function(runner),
        methods: Mapping[str, Callable[..., Any]] | None = None,
        fault: tuple[int, type[BaseException]] | None = None,
        through: Callable[[Callable[[], Any]], Any] = lambda run: run(),
    ) -> Seen:
        """fields: of the object that the function is a method of, made in this run. through: what watches it."""
        self.world, self.events, self.loggers, self.num_calls, self.things = world, [], [], 0, {}
        self.fault_at, self.fault = fault or (None, Fault)
        runner = type("ModelRunner", (), dict(methods or {}))()
        before = {name: make() for name, make in (fields or {}).items()}
        runner.__dict__.update(before)
        self.environ = Environ(self, dict(world.get("environ", {})))
        result, raised = None, None
        with self._heard(), self._mooncake():
            try:
                result = through(lambda: call(function, runner))
            except Exception as error:  # noqa: BLE001 - an outcome like any other
                cause = "" if error.__cause__ is None else type(error.__cause__).__name__
                raised = type(error).__name__, str(error), cause
        writes = {
            name: shown(value)
            for name, value in vars(runner).items()
            if name not in before or before[name] is not value
        }
        return Seen(self.events, shown(result), raised, writes, self.loggers, self.num_calls)

    @contextmanager
    def _mooncake(self) -> Iterator[None]:
        """The package is there, or it is not, or it is broken: importing it fails for a reason of its own."""
        module: Any = None
        if self.world.get("has_mooncake") == "broken":
            module = _Broken("mooncake")
        elif self.world.get("has_mooncake"):
            module = types.ModuleType("mooncake")
            module.ep = self.thing("mooncake.ep", {"set_device_filter": None})
        real = sys.modules.get("mooncake")
        sys.modules["mooncake"] = module
        try:
            yield
        finally:
            if real is None:
                del sys.modules["mooncake"]
            else:
                sys.modules["mooncake"] = real

    @contextmanager
    def _heard(self) -> Iterator[None]:
        stage = self

        def heard(logger: logging.Logger, record: logging.LogRecord) -> None:
            stage.events.append(("log", record.levelname, record.getMessage()))
            stage.loggers.append(logger.name)

        with (
            patch.object(logging.Logger, "handle", heard),
            patch.object(logging.Logger, "isEnabledFor", lambda *_: True),
        ):
            yield


class Thing:
    """Stands in for an object or a module: what it answers is given, and what was asked is seen. real: what answers
    the rest, unseen."""

    def __init__(self, stage: Stage, name: str, answers: Mapping[str, Any], attributes: Mapping[str, Any]) -> None:
        own = vars(self)
        own["_stage"], own["_name"], own["_answers"] = stage, name, answers
        own.update(attributes)

    def __getattr__(self, name: str) -> Any:
        if name not in self._answers:
            real = self.__dict__.get("_real")
            if real is None or name.startswith("__"):
                raise AttributeError(f"{self._name} has no {name}")
            return getattr(real, name)
        answer = self._answers[name]
        stage, full = self._stage, f"{self._name}.{name}"
        return lambda *args, **kwargs: stage.called(
            full, args, kwargs, (lambda: answer(*args, **kwargs)) if callable(answer) else answer
        )

    def __setattr__(self, name: str, value: Any) -> None:
        self._stage.events.append(("write", f"{self._name}.{name}", shown(value)))
        self.__dict__[name] = value

    def __str__(self) -> str:
        return str(self._name)

    def __enter__(self) -> Thing:
        self._stage.called(f"{self._name}.enter", (), {})
        return self

    def __exit__(self, kind: type[BaseException] | None, *_: object) -> None:
        self._stage.called(f"{self._name}.exit", (kind and kind.__name__,), {})


class _Broken(types.ModuleType):
    """A package whose native part can't be loaded."""

    @property
    def ep(self) -> Any:
        raise OSError("libcuda.so.1: cannot open shared object file")


class Environ(dict[str, str]):
    """Variables; a write is seen."""

    def __init__(self, stage: Stage, given: Mapping[str, str]) -> None:
        super().__init__(given)
        self._stage = stage

    def __setitem__(self, name: str, value: str) -> None:
        self._stage.events.append(("environment", name, value))
        super().__setitem__(name, value)

    def __delitem__(self, name: str) -> None:
        self._stage.events.append(("environment", name, None))
        super().__delitem__(name)


def shown(value: Any) -> Any:
    """A value as it is now; a stand-in by its name, and of a tensor its shape and kind."""
    if isinstance(value, Thing):
        return ("thing", value._name)
    if isinstance(value, (list, tuple)):
        return type(value).__name__, [shown(each) for each in value]
    if isinstance(value, (set, frozenset)):
        return type(value).__name__, sorted(map(repr, value))
    if type(value).__module__ == "torch" and hasattr(value, "shape"):
        return "tensor", tuple(value.shape), str(value.dtype), str(value.device)
    if value is None or isinstance(value, (bool, int, float, str, bytes)):
        return type(value).__name__, value
    return type(value).__name__, str(value)


def is_same(
    old: Seen, new: Seen, *, late: frozenset[str] = frozenset(), reworded: tuple[str, str] | None = None
) -> list[str]:
    """What differs, in words; empty where nothing does. late: attributes that the original has already written when it
    fails, and its replacement has not: the declared difference. reworded: a part of an exception's text, before and
    after: another one."""
    raised = old.raised
    if reworded is not None and raised is not None and new.raised is not None and reworded[1] in new.raised[1]:
        raised = raised[0], raised[1].replace(*reworded), raised[2]
    found = [
        f"{what}: {one!r} has become {other!r}"
        for what, one, other in (
            ("exception", raised, new.raised),
            ("result", old.result, new.result),
            ("number of calls and log records", len(old.events), len(new.events)),
        )
        if one != other
    ]
    for at, (one, other) in enumerate(zip(old.events, new.events, strict=False)):
        if one != other:
            found.append(f"event {at}: {one!r} has become {other!r}")
            break
    before = {name: it for name, it in old.writes.items() if old.raised is None or name not in late}
    if before != new.writes:
        found.append(f"writes: {before!r} have become {new.writes!r}")
    return found
