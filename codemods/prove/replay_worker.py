"""One process of a replay: makes the recorded calls on the function at hand and writes down what came of each.

It says what happened and compares nothing. Runs in the user's Python, beside the user's program: standard library
alone. It confines itself before anything of the program is loaded (confine.py), unless it is asked not to. Answers go
to a file, one JSON line when a recording is begun, one when it is done, and one for each thing that was refused, so
that whoever waits knows which recording a crash, a hang or a refusal belongs to."""

from __future__ import annotations

import inspect
import json
import os
import sys
import warnings
from typing import Any, TextIO

from . import confine, replay_build, sandbox_kernel  # noqa: TID252 -- see record_values.py
from .record_values import WHOLE, Capture, Reads, changes, home, same  # noqa: TID252
from .redact import Rules  # noqa: TID252
from .replay_bind import Bound, Candidate, CantBind, NoTarget, bind, find  # noqa: TID252

_MEMORY_MB, _FILE_MB, _OPEN_FILES = 16_384, 64, 512


def main(request: str, answers: str) -> None:
    """request, answers: files."""
    with open(request, encoding="utf-8") as file:
        given = json.load(file)
    sys.path[:0] = given["paths"]
    warnings.simplefilter("ignore")
    with open(answers, "a", encoding="ascii") as out:
        if given["folder"]:
            _say(out, {"lacks": _confine(given["folder"], given["readable"], out)})
        for number, recording in given["recordings"]:
            _say(out, {"begun": number})
            replay_build.forget()
            answer = _Replay(recording, given["against"] or recording["target"], given["redact"]).answer()
            _say(out, {"done": number, **answer})
    # Threads that the program left behind are not waited for.
    os._exit(0)


def _confine(folder: str, readable: list[str], out: TextIO) -> list[str]:
    """For ever. What this system does not have."""
    import logging  # noqa: F401 -- what is needed later is loaded while it can be
    import threading  # noqa: F401

    sandbox_kernel.die_with_parent(os.getppid())
    lacks = sandbox_kernel.leave_network()
    os.environ.update(HOME=folder, TMPDIR=folder)
    sandbox_kernel.go_first_when_memory_ends()
    lacks += confine.limit_resources(memory_mb=_MEMORY_MB, file_mb=_FILE_MB, open_files=_OPEN_FILES, threads=True)
    own = [os.path.dirname(os.path.abspath(__file__)), sys.prefix, sys.base_prefix]
    lacks += confine.confine(folder, [*own, *readable], lambda what: _say(out, {"refused": what}), is_program=True)
    return list(lacks)


def _say(out: TextIO, line: dict[str, Any]) -> None:
    out.write(json.dumps(line) + "\n")
    out.flush()


class _Replay:
    """One recording."""

    def __init__(self, recording: dict[str, Any], reference: str, redact: list[str]) -> None:
        self.recording, self.reference = recording, reference
        self.receiver: str = recording.get("receiver", "")
        self.rules = Rules(redact)
        self.capture = Capture(self.rules)  # its names are set when the function is found
        self.logs: list[dict[str, str]] = []

    def answer(self) -> dict[str, Any]:
        """status: ran, unmatched or inconclusive, with a reason."""
        try:
            candidate = find(self.reference, len(self.recording["arguments"]))
        except NoTarget as error:
            return {"status": "unmatched", "reason": str(error)}
        except BaseException as error:  # noqa: BLE001 -- whatever a foreign module raises
            return _inconclusive(f"{self.reference.partition(':')[0]} can't be imported: {_told(error)}")
        if candidate.is_class and candidate.owner is None:
            return _inconclusive("it takes a class and has none")
        self.capture.names = getattr(inspect.unwrap(candidate.function), "__globals__", {})
        try:
            values, bound = self._inputs(candidate)
        except CantBind as error:
            return _inconclusive(str(error))
        except BaseException as error:  # noqa: BLE001 -- foreign classes
            return _inconclusive(f"the inputs can't be built: {_told(error)}")
        before = self._arguments(values)
        strange = self._unlike(before)
        if strange:
            return _inconclusive(f"{strange} can't be built as it was recorded")
        return self._run(candidate, values, bound, before)

    def _inputs(self, candidate: Candidate) -> tuple[dict[str, Any], Bound]:
        arguments = self.recording["arguments"]
        builder = replay_build.Builder(self.receiver, self._receiver_class(candidate))
        values = {name: builder.value(data, name.lstrip("*")) for name, data in arguments.items()}
        if candidate.is_class and self.receiver:
            values[self.receiver] = candidate.owner
        for place in self.recording.get("absent", ()):
            owner, _, name = place.rpartition(".")
            if owner in builder.by_label:
                replay_build.allow(builder.by_label[owner], {name})
        shown = arguments.get(self.receiver, {})
        own = shown.get("attributes", {}) if isinstance(shown, dict) else {}
        attributes = {name: self._attribute(values[self.receiver], name) for name in own}
        return values, bind(candidate, self.receiver, values, attributes)

    def _attribute(self, receiver: Any, name: str) -> Any:
        try:
            return object.__getattribute__(receiver, "__dict__")[name]
        except (AttributeError, KeyError):
            return getattr(receiver, name)

    def _receiver_class(self, candidate: Candidate) -> type | None:
        """The recorded class where it has the method, and else the one that has it now."""
        data = self.recording["arguments"].get(self.receiver)
        if candidate.owner is None or not isinstance(data, dict) or "$object" not in data:
            return None
        try:
            recorded = replay_build.named(data["$object"])
        except LookupError:
            return candidate.owner
        return recorded if issubclass(recorded, candidate.owner) else candidate.owner

    def _arguments(self, values: dict[str, Any]) -> dict[str, Any]:
        shown = self.recording["arguments"]
        return {
            name: self.capture.value(value, name.lstrip("*"), reads_in(shown[name])) for name, value in values.items()
        }

    def _unlike(self, before: dict[str, Any]) -> str:
        """The name of an argument that is not what was recorded, "" when all are."""
        for name, data in self.recording["arguments"].items():
            if name != self.receiver and not same(data, before[name]):
                return str(name)
        return ""

    def _run(
        self, candidate: Candidate, values: dict[str, Any], bound: Bound, before: dict[str, Any]
    ) -> dict[str, Any]:
        self._set_environment()
        environ = dict(os.environ)
        kept = _listen(self.logs, self.recording.get("log_level", "WARNING"))
        result, error = None, None
        try:
            result = candidate.function(*bound.args, **bound.kwargs)
        except replay_build.Unknown:
            pass  # it is on the list
        except BaseException as raised:  # noqa: BLE001 -- an outcome like any other
            error = raised
        finally:
            kept()
        if replay_build.unknown:
            return _inconclusive(f"it needs {replay_build.unknown[0]}")
        if error is not None and any(name in str(error) for name in ("Placeholder", "_unmoved_recorder")):
            return _inconclusive(f"it needs more than a placeholder: {_told(error)}")
        answer = self._outcome(values, before, result, error, environ)
        if replay_build.unknown:
            return _inconclusive(f"it needs {replay_build.unknown[0]}")
        answer["takes_receiver"] = bound.takes_receiver or not self.receiver
        answer["notes"] = bound.notes
        return answer

    def _set_environment(self) -> None:
        for name, value in self.recording.get("environment", {}).items():
            if value is None:
                os.environ.pop(name, None)
            else:
                os.environ[name] = value

    def _outcome(
        self, values: dict[str, Any], before: dict[str, Any], result: Any, error: BaseException | None,
        environ: dict[str, str],
    ) -> dict[str, Any]:  # fmt: skip
        self.capture.again()
        after = self._arguments(values)
        writes: dict[str, Any] = {}
        for name, was in before.items():
            writes.update(changes(was, after[name], name.lstrip("*")))
        now = dict(os.environ)
        changed = sorted(name for name in {*environ, *now} if environ.get(name) != now.get(name))
        answer: dict[str, Any] = {
            "status": "ran",
            "writes": writes,
            "env_writes": {name: None if name not in now else self.rules.text(now[name], name) for name in changed},
            "logs": [{**log, "text": self.rules.text(log["text"])[:600]} for log in self.logs],
        }
        if error is not None:
            answer["raised"] = {"type": home(type(error)), "text": self.rules.text(str(error)[:2000])[:600]}
            if error.__cause__ is not None:
                answer["raised"]["cause"] = home(type(error.__cause__))
            return answer
        for kind, is_kind in (
            ("generator", inspect.isgenerator),
            ("coroutine", inspect.iscoroutine),
            ("async_generator", inspect.isasyncgen),
        ):
            if is_kind(result):
                answer["returned"] = {"$opaque": f"builtins:{kind}", "label": "result"}
                if kind == "coroutine":
                    result.close()
                return answer
        answer["returned"] = self.capture.value(result, "result")
        return answer


def reads_in(data: Any) -> Reads:
    """What was recorded of a value, as what to look at again."""
    if not isinstance(data, dict) or "$object" not in data:
        return WHOLE
    found = Reads()
    for name, inner in data["attributes"].items():
        found.attributes[name] = reads_in(inner)
    return found


def _listen(logs: list[dict[str, str]], level: str) -> Any:
    """Take down what any logger lets pass at `level`; what is returned ends it."""
    import logging

    number = logging.getLevelName(level)
    number = number if isinstance(number, int) else logging.WARNING
    handle, root_level, disabled = logging.Logger.handle, logging.root.level, logging.Logger.manager.disable
    levels = {logger: logger.level for logger in _loggers(logging)}

    def heard(self: Any, record: Any) -> None:
        del self
        logs.append({"level": str(record.levelname), "logger": str(record.name), "text": str(record.getMessage())})

    for logger in levels:
        logger.setLevel(logging.NOTSET)
    logging.root.setLevel(number)
    logging.disable(logging.NOTSET)
    logging.Logger.handle = heard  # type: ignore[method-assign]

    def end() -> None:
        logging.Logger.handle = handle  # type: ignore[method-assign]
        for logger, before in levels.items():
            logger.setLevel(before)
        logging.root.setLevel(root_level)
        logging.disable(disabled)

    return end


def _loggers(logging: Any) -> list[Any]:
    return [each for each in logging.Logger.manager.loggerDict.values() if isinstance(each, logging.Logger)]


def _inconclusive(reason: str) -> dict[str, Any]:
    return {"status": "inconclusive", "reason": reason}


def _told(error: BaseException) -> str:
    text = " ".join(str(error).split())[:200]
    return f"{type(error).__name__}: {text}" if text else type(error).__name__
