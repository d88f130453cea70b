"""How calls are noticed from Python 3.12 on: through `sys.monitoring`, which costs nothing where nothing is recorded.

Each code object is asked for its name once, when it first runs. Of the targets the start and the return are reported;
an exception that leaves a function is reported for all functions, as there is no other way. Standard library alone."""

from __future__ import annotations

import inspect
import sys
import types
from typing import Any

from .record_calls import Recorder  # noqa: TID252 -- see record_values.py
from .record_entries import Entry, Target  # noqa: TID252
from .record_names import Wanted  # noqa: TID252

_TOOLS = (4, 3, 5, 2)  # numbers of tools that nobody else is likely to take first


class Monitor:
    """The callbacks, and the calls under way by their frame."""

    def __init__(self, recorder: Recorder, wanted: Wanted) -> None:
        self.recorder, self.wanted = recorder, wanted
        self.monitoring: Any = vars(sys)["monitoring"]
        self.tool = -1
        self.targets: dict[int, Target] = {}
        self.calls: dict[int, Entry] = {}
        self.is_unwinding_heard = False

    def start(self) -> bool:
        """False when every number is taken."""
        monitoring = self.monitoring
        for tool in _TOOLS:
            if monitoring.get_tool(tool) is None:
                monitoring.use_tool_id(tool, "unmoved")
                self.tool = tool
                break
        else:
            return False
        events = monitoring.events
        monitoring.register_callback(self.tool, events.PY_START, self._started)
        monitoring.register_callback(self.tool, events.PY_RETURN, self._returned)
        monitoring.register_callback(self.tool, events.PY_UNWIND, self._unwound)
        monitoring.set_events(self.tool, events.PY_START)
        return True

    def _started(self, code: types.CodeType, offset: int) -> Any:
        del offset
        target = self.targets.get(id(code))
        if target is None:
            is_function = code.co_flags & inspect.CO_OPTIMIZED  # the body of a class is code with a name too
            if not is_function or not self.wanted.may_be(code.co_qualname):  # type: ignore[attr-defined, unused-ignore]
                return self.monitoring.DISABLE
            target = self._met(code, sys._getframe(1))
            if target is None:
                return self.monitoring.DISABLE
        if not target.is_due():
            return None
        frame = sys._getframe(1)
        seen = frame.f_locals
        values = {name: seen[name] for name in target.parameters if name in seen}
        entry = self.recorder.enter(target, values)
        if entry is not None:
            if target.later:
                self.recorder.made(entry)
            else:
                self.calls[id(frame)] = entry
        return None

    def _met(self, code: types.CodeType, frame: types.FrameType) -> Target | None:
        name = self.wanted.name_of(code.co_qualname, frame.f_globals, code.co_filename)  # type: ignore[attr-defined, unused-ignore]
        if not name:
            return None
        events = self.monitoring.events
        target = self.targets[id(code)] = self.recorder.add(name, code, frame.f_globals)
        self.monitoring.set_local_events(self.tool, code, events.PY_RETURN)
        if not self.is_unwinding_heard:
            self.is_unwinding_heard = True
            self.monitoring.set_events(self.tool, events.PY_START | events.PY_UNWIND)
        return target

    def _returned(self, code: types.CodeType, offset: int, result: object) -> None:
        del code, offset
        if self.calls:
            entry = self.calls.pop(id(sys._getframe(1)), None)
            if entry is not None:
                self.recorder.leave(entry, result)

    def _unwound(self, code: types.CodeType, offset: int, error: BaseException) -> None:
        del offset
        target = self.targets.get(id(code))
        if target is not None and not target.later:
            entry = self.calls.pop(id(sys._getframe(1)), None)
            if entry is not None:
                self.recorder.fail(entry, error)
            else:
                self.recorder.surprise(target)
