"""What is kept of each call: looks at every call for a few microseconds, captures those that may show a new behaviour,
and writes them to the spool at once, so that a program which is killed has still been recorded.

Which calls are looked at depends on how many there were, never on the clock: the same program gives the same
recordings. How a call is noticed is record_monitoring.py's and record_wrapping.py's. Runs in the recorded program:
standard library alone, and nothing that goes wrong here reaches the program."""

from __future__ import annotations

import json
import os
import sys
import threading
import types
from _thread import get_ident
from collections.abc import Mapping
from typing import Any

from .record_entries import Entry, Key, Target, environ_now, rebound  # noqa: TID252 -- see record_values.py
from .record_environ import watch  # noqa: TID252
from .record_names import PROGRAM_NAMES, program_name  # noqa: TID252
from .record_reads import reads_of  # noqa: TID252
from .record_shape import behaviour, quick, text_shape  # noqa: TID252
from .record_values import WHOLE, Capture, changes, home, state_of  # noqa: TID252
from .redact import Rules  # noqa: TID252

MAX_BEHAVIOURS, _EXAMPLES = 64, 4
_MAX_LOGS = 50
_MAX_KEYS = 4096


class Recorder:
    """All targets of one process."""

    def __init__(self, spool: str, patterns: list[str]) -> None:
        self.spool_folder, self.patterns, self.main = spool, patterns, ""
        self.targets: list[Target] = []
        self.active: dict[int, list[Entry]] = {}
        self.inside = threading.local()
        self.missed = 0
        self.problems: dict[str, int] = {}
        self._logging: Any = None
        self._lock = threading.Lock()
        self.reset()
        watch(self._looked_up, self._gone_through)

    def reset(self) -> None:
        """A new process, or one that was forked off, which tells of its own calls alone."""
        self.rules = Rules(self.patterns)
        self._spool = -1
        self._lock = threading.Lock()
        self.missed, self.problems = 0, {}
        self.active.clear()
        for target in self.targets:
            target.reset()

    def add(self, name: str, code: types.CodeType, names: dict[str, Any]) -> Target:
        """A function that was met. In recordings the program's own module has the name that was asked for."""
        target = Target(name, code, names)
        self.targets.append(target)
        if names.get("__name__") in PROGRAM_NAMES:
            self.main = name.partition(":")[0]
        return target

    def enter(self, target: Target, values: dict[str, Any]) -> Entry | None:
        """values: of the parameters. None: this call is not looked at after all."""
        if getattr(self.inside, "yes", False):
            return None
        self.inside.yes = True
        try:
            return self._enter(target, values)
        except Exception as error:  # noqa: BLE001 -- the program must not notice
            self.problem(error)
            return None
        finally:
            self.inside.yes = False

    def surprise(self, target: Target) -> None:
        """An exception left a call that was not looked at: the next ones are."""
        self.missed += 1
        target.surprise()

    def _enter(self, target: Target, values: dict[str, Any]) -> Entry | None:
        first = values.get(target.receiver) if target.receiver else None
        kind = type(first) if target.receiver else None
        found = target.reads.get(kind)
        if found is None:
            found = target.reads[kind] = reads_of(target.code, target.names, values)
            self.main = self.main or program_name()
            self.rules.set_main(self.main)
        of = found.of
        marks = tuple([quick(values[name], of(name)) for name in target.parameters if name in values])
        environ = environ_now()
        key_of = (kind, marks, tuple([environ.get(os.fsencode(name)) for name in found.environment]))
        key = target.keys.get(key_of)
        if key is None:
            if len(target.keys) >= _MAX_KEYS:
                return None
            key = target.keys[key_of] = Key()
        entry = Entry(target, values, found, key)
        if key.is_due():
            self._capture(entry)
        else:
            for name in target.parameters:
                if of(name).attributes or of(name).written:
                    value = values.get(name)
                    entry.states.append((value, state_of(value)))
        self._log_level(entry)
        self.active.setdefault(entry.thread, []).append(entry)
        return entry

    def _capture(self, entry: Entry) -> None:
        self.rules.used = False
        entry.capture = capture = Capture(self.rules, self.main, entry.target.names)
        entry.arguments = self._arguments(entry, capture)
        entry.key.kept(capture.nodes)

    def _arguments(self, entry: Entry, capture: Capture) -> dict[str, Any]:
        target, values = entry.target, entry.values
        return {
            target.shown[name]: capture.value(values[name], name, entry.found.of(name))
            for name in target.parameters
            if name in values
        }

    def leave(self, entry: Entry, result: Any) -> None:
        self._end(entry, result, None)

    def fail(self, entry: Entry, error: BaseException) -> None:
        self._end(entry, None, error)

    def made(self, entry: Entry) -> None:
        """The call has made a generator or a coroutine."""
        self._end(entry, entry.target.later, None)

    def _end(self, entry: Entry, result: Any, error: BaseException | None) -> None:
        was_inside = getattr(self.inside, "yes", False)
        self.inside.yes = True
        try:
            stack = self.active.get(entry.thread, [])
            if entry in stack:
                del stack[stack.index(entry) :]
            if not stack:
                self.active.pop(entry.thread, None)
            outcome = self._outcome(entry, result, error)
            if entry.capture is None:
                if outcome not in entry.key.outcomes:
                    self.missed += 1
                    entry.key.is_wanted = True
            elif entry.key.outcomes.get(outcome, 0) < _EXAMPLES:
                entry.key.outcomes[outcome] = entry.key.outcomes.get(outcome, 0) + 1
                self._write(entry, result, error)
        except Exception as problem:  # noqa: BLE001 -- the program must not notice
            self.problem(problem)
        finally:
            self.inside.yes = was_inside

    def _outcome(self, entry: Entry, result: Any, error: BaseException | None) -> Any:
        """Something hashable, cheap, that differs where the outcome does."""
        capture = entry.capture
        states = entry.states
        if capture is not None:
            states = [(each, capture.states[id(each)]) for each in capture.kept if id(each) in capture.states]
        changed = [name for value, before in states for name in rebound(before, state_of(value))]
        logs = tuple((level, logger, text_shape(text)) for level, logger, text in entry.logs)
        if error is not None:
            return (type(error), text_shape(str(error)) if type(error).__module__ == "builtins" else "", *changed, logs)
        return (quick(result, WHOLE), logs, entry.environ == environ_now(), *changed)

    def _write(self, entry: Entry, result: Any, error: BaseException | None) -> None:
        target, capture = entry.target, entry.capture
        assert capture is not None
        variables, note = entry.variables()
        recording: dict[str, Any] = {
            "schema": 1,
            "target": target.name,
            "receiver": target.receiver,
            "arguments": entry.arguments,
            "absent": sorted(capture.absent),
            "environment": {name: self._variable(name, entry.environ) for name in sorted(variables)},
            "log_level": _level_name(entry.log_level),
            "logs": [{"level": level, "logger": logger, "text": text} for level, logger, text in entry.logs],
        }
        capture.again()
        if target.later:
            recording["returned"] = {"$opaque": f"builtins:{target.later}", "label": "result"}
        else:
            after = self._arguments(entry, capture)
            writes: dict[str, Any] = {}
            for name, before in entry.arguments.items():
                writes.update(changes(before, after[name], name.lstrip("*")))
            recording["writes"] = writes
            recording["env_writes"] = self._env_writes(entry)
            if error is None:
                recording["returned"] = capture.value(result, "result")
            else:
                recording["raised"] = self.raised(error)
        notes = capture.notes | entry.found.notes | ({note} if note else set())
        recording["notes"] = sorted(notes | ({"secrets are redacted"} if self.rules.used else set()))
        self._spool_example(target, recording)

    def _spool_example(self, target: Target, recording: dict[str, Any]) -> None:
        with self._lock:
            digest = behaviour(recording)
            seen = target.done.get(digest, 0)
            if seen >= _EXAMPLES:
                return
            if not seen and len(target.done) >= MAX_BEHAVIOURS:
                self.problems["more behaviours than are kept"] = (
                    self.problems.get("more behaviours than are kept", 0) + 1
                )
                return
            target.done[digest] = seen + 1
        self.put({"behaviour": digest, "recording": recording})

    def raised(self, error: BaseException) -> dict[str, str]:
        """The exception as data. str() is the exception's own, and it may fail."""
        try:
            text = str(error)[:2000]
        except Exception:  # noqa: BLE001 -- foreign code
            text = "(str() of the exception failed)"
        found = {"type": home(type(error), self.main), "text": self.rules.text(text)[:600]}
        if error.__cause__ is not None:
            found["cause"] = home(type(error.__cause__), self.main)
        return found

    def _variable(self, name: str, environ: Mapping[Any, Any]) -> str | None:
        value = environ.get(os.fsencode(name), environ.get(name))
        return None if value is None else self.rules.text(os.fsdecode(value), name)

    def _env_writes(self, entry: Entry) -> dict[str, str | None]:
        before, after = entry.environ, environ_now()
        names = {name for name in {*before, *after} if before.get(name) != after.get(name)}
        return {name: self._variable(name, after) for name in sorted(map(os.fsdecode, names))}

    def _log_level(self, entry: Entry) -> None:
        logging = self._logging
        if logging is None:
            logging = sys.modules.get("logging")
            if logging is None or not hasattr(logging, "Logger"):
                return
            self._logging = logging
            _listen(self, logging)
        known = logging.Logger.manager.loggerDict.get(entry.target.name.partition(":")[0])
        logger = known if isinstance(known, logging.Logger) else logging.root
        entry.log_level = max(logger.getEffectiveLevel(), logging.Logger.manager.disable + 1)

    def log(self, record: Any) -> None:
        """A log record that some call on this thread has made."""
        stack = self.active.get(get_ident())
        if not stack or getattr(self.inside, "yes", False):
            return
        try:
            name = self.main if record.name in PROGRAM_NAMES else record.name
            line = (str(record.levelname), name, self.rules.text(record.getMessage())[:600])
        except Exception as error:  # noqa: BLE001 -- the program's own arguments
            self.problem(error)
            return
        for entry in stack:
            if len(entry.logs) < _MAX_LOGS:
                entry.logs.append(line)

    def _looked_up(self, module: str, name: str) -> None:
        for entry in self._asking(module):
            entry.looked_up.add(name)

    def _gone_through(self, module: str) -> None:
        for entry in self._asking(module):
            entry.is_gone_through = True

    def _asking(self, module: str) -> list[Entry]:
        """Calls under way on this thread, of the package whose code asks: what libraries ask at their first use and
        never again is no input of a call."""
        stack = self.active.get(get_ident(), [])
        if not stack or getattr(self.inside, "yes", False):
            return []
        package = module.partition(".")[0]
        return [
            each for each in stack
            if package in (*PROGRAM_NAMES, each.target.name.partition(":")[0].partition(".")[0])
        ]  # fmt: skip

    def problem(self, error: Exception) -> None:
        text = f"{type(error).__name__} while a call was looked at"
        self.problems[text] = self.problems.get(text, 0) + 1

    def summary(self) -> None:
        """What the process as a whole has to say, at its end."""
        calls: dict[str, int] = {}
        for target in self.targets:
            if target.calls:
                calls[target.name] = calls.get(target.name, 0) + target.calls
        self.put({"calls": calls, "missed": self.missed, "problems": self.problems})

    def put(self, line: dict[str, Any]) -> None:
        """One line to this process's own file of the spool; nowhere when `unmoved record` is gone."""
        was_inside = getattr(self.inside, "yes", False)
        self.inside.yes = True  # what is recorded may be what is used here
        try:
            if self._spool < 0:
                name = os.path.join(self.spool_folder, f"{os.getpid()}-{id(self):x}.jsonl")
                self._spool = os.open(name, os.O_WRONLY | os.O_CREAT | os.O_APPEND | os.O_CLOEXEC, 0o600)
            os.write(self._spool, json.dumps(line).encode("ascii") + b"\n")
        except OSError:
            self._spool = -1
        finally:
            self.inside.yes = was_inside


def _level_name(level: int) -> str:
    logging = sys.modules.get("logging")
    return str(logging.getLevelName(level)) if logging is not None and hasattr(logging, "getLevelName") else "WARNING"


def _listen(recorder: Recorder, logging: Any) -> None:
    """Every record that a logger lets pass goes by here first."""
    handle = logging.Logger.handle

    def heard(self: Any, record: Any) -> None:
        if not self.disabled:
            recorder.log(record)
        handle(self, record)

    logging.Logger.handle = heard
