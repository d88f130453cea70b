"""The beginning of a recorded process: reads what is wanted, starts noticing calls, and sees to the end of the process
and to forks. Called by the `sitecustomize` that record.py puts on the path. Standard library alone."""

from __future__ import annotations

import atexit
import json
import os

from .record_calls import Recorder  # noqa: TID252 -- see record_values.py
from .record_monitoring import Monitor  # noqa: TID252
from .record_names import Wanted  # noqa: TID252
from .record_wrapping import Wrapper, is_here  # noqa: TID252


def start(config: str) -> None:
    """config: the file that record.py wrote."""
    with open(config, encoding="utf-8") as file:
        given = json.load(file)
    recorder = Recorder(given["spool"], given["redact"])
    wanted = Wanted(given["targets"])
    by_wrapping = is_here()
    is_started = Wrapper(recorder, wanted).start() if by_wrapping else Monitor(recorder, wanted).start()
    if not is_started:  # every tool number is taken
        is_started = Wrapper(recorder, wanted).start()
    recorder.put({"started": os.getpid()})
    atexit.register(recorder.summary)
    if hasattr(os, "register_at_fork"):
        os.register_at_fork(after_in_child=recorder.reset)
