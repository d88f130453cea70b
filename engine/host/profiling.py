"""Spans that a profiler shows, and the profiler itself. A span costs nothing while nobody profiles."""

from __future__ import annotations

import contextlib
from collections.abc import Iterator
from pathlib import Path

import torch
from torch.profiler import ProfilerActivity, profile, record_function

from engine.schema.errors import EngineError


class NotProfiling(EngineError):
    """A profile that was never begun can't be ended, and one that runs can't be begun."""

    code = "not-profiling"


class Profiler:
    """One profile at a time, of this process."""

    def __init__(self) -> None:
        self._running: profile | None = None

    @property
    def is_on(self) -> bool:
        return self._running is not None

    def start(self) -> None:
        if self._running is not None:
            raise NotProfiling("a profile is being taken", fix="end it first")
        kinds = [ProfilerActivity.CPU]
        if torch.cuda.is_available():
            kinds.append(ProfilerActivity.CUDA)
        self._running = profile(activities=kinds)
        self._running.start()

    def stop(self, path: Path) -> None:
        """End it, and leave its trace in a file that Chrome's viewer reads."""
        if self._running is None:
            raise NotProfiling("no profile is being taken", fix="start one first")
        running, self._running = self._running, None
        running.stop()
        path.parent.mkdir(parents=True, exist_ok=True)
        running.export_chrome_trace(str(path))

    @contextlib.contextmanager
    def span(self, name: str) -> Iterator[None]:
        if self._running is None:
            yield
        else:
            with record_function(name):
                yield
