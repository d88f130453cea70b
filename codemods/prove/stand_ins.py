"""Modules of the standard library as the subject sees them: pure ones are real, those that reach the world
(environment, clock, logging, warnings, files) stand for it, everything else is opaque.

Real is what computes from its arguments alone, and what classes and functions are built with."""

from __future__ import annotations

import importlib
import os
import posixpath
import sys
import types
from collections.abc import Callable, Iterator, MutableMapping
from typing import Any

from codemods.prove import texts
from codemods.prove.opaque import GLOBAL, OP, ROOT, Opaque, attribute, current, term

PURE = frozenset(
    """
        __future__ abc array ast base64 binascii bisect calendar cmath collections collections.abc colorsys
        contextlib contextvars copy csv dataclasses decimal difflib enum fnmatch fractions functools graphlib
        hashlib heapq html inspect io ipaddress itertools json keyword math msgspec ntpath numbers operator
        posixpath pprint re reprlib shlex statistics string struct textwrap types typing typing_extensions
        unicodedata urllib.parse weakref zlib builtins
    """.split()
)
_LEVELS = ("debug", "info", "warning", "error", "critical", "exception", "fatal", "warn")
_UNWRITTEN: Any = object()
_NAMED = {"warn": "warning", "fatal": "critical", "exception": "error"}
_CLOCKS = frozenset(
    """
        time time_ns monotonic monotonic_ns perf_counter perf_counter_ns process_time process_time_ns
    """.split()
)


class Environ(MutableMapping[str, Any]):
    """`os.environ` of a run: what a variable is at the start is the world's."""

    def _initial(self, key: Any) -> Any:
        run = current.run
        name = run.freezer.freeze(key)
        value = term(ROOT, f"os.environ[{name!r}]") if isinstance(name, str) else term(OP, "environ", name)
        if run.anew is not None:
            run.anew.environ(name, value)
        if run.world.values and value in run.world.values:
            return run.given(value)
        if not run.world.ask(("true", term(OP, "has env", name)), (False, True)):
            return None
        about = run.world.facts.about(value)
        about.none = False
        about.learn_is_a(str, True)
        return value

    def _find(self, key: Any) -> Any:
        env = current.run.env
        frozen = current.run.freezer.freeze(key)
        return env[frozen] if frozen in env else self._initial(key)

    def __getitem__(self, key: Any) -> Any:
        found = self._find(key)
        if found is None:
            raise KeyError(key)
        return found

    def __setitem__(self, key: Any, value: Any) -> None:
        run = current.run
        if not isinstance(value, str | Opaque):
            raise TypeError(f"str expected, not {type(value).__name__}")
        run.env[run.freezer.freeze(key)] = value
        run.record("env", run.freezer.freeze(key), run.freezer.freeze(value))

    def __delitem__(self, key: Any) -> None:
        if self._find(key) is None:
            raise KeyError(key)
        current.run.env[current.run.freezer.freeze(key)] = None
        current.run.record("env", current.run.freezer.freeze(key), None)

    def __contains__(self, key: Any) -> bool:
        return self._find(key) is not None

    def __iter__(self) -> Iterator[Any]:
        known = [key for key, value in current.run.env.items() if value is not None]
        return iter([*known, *current.run.iterate(term(ROOT, "os.environ"))])

    def __len__(self) -> int:
        return len(list(iter(self)))

    def copy(self) -> Any:
        return term(OP, "environ.copy", current.run.freezer.freeze(dict(current.run.env)))


class StandIn(types.ModuleType):
    """A module of which some things are given; the rest is opaque, by its dotted name. What is written to it is an
    effect of a run, and gone with it."""

    def __init__(self, name: str, given: dict[str, Any]) -> None:
        super().__init__(name)
        self.__dict__.update(given, _u_given=given)

    def __getattr__(self, name: str) -> Any:
        if name.startswith("__") and name.endswith("__"):
            raise AttributeError(name)
        base = term(GLOBAL, self.__name__)
        written = current.run.heap.get(attribute(base, name), _UNWRITTEN)
        if written is not _UNWRITTEN:
            return current.run.read(base, name)
        given = self.__dict__["_u_given"]
        return given[name] if name in given else term(GLOBAL, f"{self.__name__}.{name}")

    def __setattr__(self, name: str, value: Any) -> None:
        self.__dict__.pop(name, None)  # from now on it is asked for
        current.run.write(term(GLOBAL, self.__name__), name, value)

    def __delattr__(self, name: str) -> None:
        self.__dict__.pop(name, None)
        current.run.delete(term(GLOBAL, self.__name__), name)


_NOTHING = ("dict", frozenset[Any]())  # the frozen {}


class Logger:
    """`logging.Logger` of a run: what is logged is an effect."""

    def __init__(self, name: Any) -> None:
        self._u_term = term(OP, "logger", name)
        self.name = name

    def log(self, level: Any, message: Any, *args: Any, **kwargs: Any) -> None:
        self._log(level, message, args, kwargs)

    def _log(self, level: Any, message: Any, args: tuple[Any, ...], kwargs: dict[str, Any]) -> None:
        run = current.run
        values: Any = args[0] if len(args) == 1 and isinstance(args[0], dict) and args[0] else args
        try:
            made = texts.percent(message, values) if args and isinstance(message, str) else message
        except (TypeError, ValueError, KeyError) as error:
            made = f"(bad log call: {error})"
        freeze = run.freezer.freeze
        extra: Any = _NOTHING
        if kwargs:
            extra = freeze({name: value for name, value in kwargs.items() if name not in ("stacklevel", "stack_info")})
        run.record("log", freeze(self.name), freeze(level), freeze(made), extra)

    def getChild(self, name: Any) -> Logger:  # noqa: N802 - the name that logging gives it
        return Logger(f"{self.name}.{name}")

    def __getattr__(self, name: str) -> Any:
        if name.startswith("_"):
            raise AttributeError(name)
        return current.run.read(self._u_term, name)


def _at_level(level: str) -> Callable[..., None]:
    def log(self: Logger, message: Any, *args: Any, **kwargs: Any) -> None:
        if level == "exception":
            kwargs.setdefault("exc_info", True)
        self._log(_NAMED.get(level, level), message, args, kwargs)

    return log


for _level in _LEVELS:
    setattr(Logger, _level, _at_level(_level))


def _logger(name: Any = None) -> Logger:
    return Logger("root" if name is None else current.run.freezer.freeze(name))


def _root(level: str) -> Callable[..., None]:
    def log(*args: Any, **kwargs: Any) -> Any:
        return getattr(Logger("root"), level)(*args, **kwargs)

    return log


def _warn(message: Any, category: Any = UserWarning, *_: Any, **__: Any) -> None:
    run = current.run
    run.record("warning", run.freezer.freeze(category), run.freezer.freeze(message))


class _Output:
    """`sys.stdout` and `sys.stderr`."""

    def __init__(self, name: str) -> None:
        self._name = name

    def write(self, text: Any) -> None:
        current.run.record(self._name, current.run.freezer.freeze(text))

    def flush(self) -> None:
        """Nothing is kept back."""

    def isatty(self) -> bool:
        return False


def _clock(name: str) -> Callable[[], Any]:
    return lambda: current.run.call(term(GLOBAL, f"time.{name}"), (), {}, is_quiet=True)


def _leave(code: Any = None) -> None:
    raise SystemExit(code)


def _path(name: str) -> Callable[..., Any]:
    """A function of os.path that reads no file."""
    real = getattr(posixpath, name)

    def found(*args: Any) -> Any:
        from codemods.prove.builtin_calls import pure, with_opaque

        return pure(f"os.path.{name}", args, {}) if with_opaque(args, {}) else real(*args)

    return found


def _made() -> dict[str, types.ModuleType]:
    environ = Environ()
    pure_paths = """
        join basename dirname split splitext normpath isabs commonprefix commonpath relpath
    """.split()
    path = StandIn("os.path", {"sep": "/", **{name: _path(name) for name in pure_paths}})
    import logging

    numbers = {name: getattr(logging, name) for name in ("DEBUG", "INFO", "WARNING", "ERROR", "CRITICAL", "NOTSET")}
    given = {
        "os": {
            "environ": environ,
            "getenv": environ.get,
            "path": path,
            "sep": "/",
            "linesep": "\n",
            "PathLike": os.PathLike,
        },
        "os.path": path.__dict__,
        "logging": {"getLogger": _logger, "Logger": Logger, **numbers, **{name: _root(name) for name in _LEVELS}},
        "time": {name: _clock(name) for name in _CLOCKS},
        "warnings": {"warn": _warn},
        "sys": {
            "stdout": _Output("output"),
            "stderr": _Output("error output"),
            "exit": _leave,
            "version_info": sys.version_info,
            "maxsize": sys.maxsize,
            "byteorder": sys.byteorder,
        },
    }
    return {name: StandIn(name, values) for name, values in given.items()}


_stand_ins: dict[str, types.ModuleType] = {}


def outside_module(dotted: str, real: frozenset[str] = frozenset()) -> Any:
    """A module that is not in the trees, as the subject sees it. `real`: modules that a spec wants as they are."""
    if not _stand_ins:
        _stand_ins.update(_made())
    if dotted in real:
        return importlib.import_module(dotted)
    if dotted in _stand_ins:
        return _stand_ins[dotted]
    if dotted in PURE:
        try:
            return importlib.import_module(dotted)
        except ImportError:
            return term(GLOBAL, dotted)
    if dotted == "urllib":
        return StandIn("urllib", {"parse": importlib.import_module("urllib.parse")})
    return term(GLOBAL, dotted)


def outside_name(dotted: str, name: str, real: frozenset[str] = frozenset()) -> Any:
    """`from dotted import name`, of a module that is not in the trees. Raises ImportError where a real one has none."""
    module = outside_module(dotted, real)
    if type(module) is Opaque:
        return term(GLOBAL, f"{dotted}.{name}")
    found = getattr(module, name, None)
    if found is None and not hasattr(module, name):
        if f"{dotted}.{name}" in PURE:
            return outside_module(f"{dotted}.{name}", real)
        raise ImportError(f"cannot import name {name!r} from {dotted!r}")
    return found
