"""Where the subject is: the frames of its own code, and a trace of the lines that ran, for reports."""

from __future__ import annotations

import contextlib
import sys
import types
from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from codemods.prove.run import Run

Place = tuple[str, int]


def subject_stack() -> tuple[Place, ...]:
    """File and line of the frames of the subject's own code, innermost first."""
    found: list[Place] = []
    frame: types.FrameType | None = sys._getframe(2)
    while frame is not None:
        if _is_subject(frame):
            found.append((frame.f_code.co_filename, frame.f_lineno))
        frame = frame.f_back
    return tuple(found)


def _is_subject(frame: types.FrameType) -> bool:
    return frame.f_code.co_filename.startswith(("<old>", "<new>"))


@contextlib.contextmanager
def followed(run: Run) -> Iterator[None]:
    """Note in `run.left` where the subject is, so that what is recorded after its end has a place too. Slow: for runs
    with a trace."""
    if run.places is None:
        yield
        return

    def entered(frame: types.FrameType, event: str, _: object) -> Any:
        return follow if event == "call" and _is_subject(frame) else None

    def follow(frame: types.FrameType, event: str, value: object) -> Any:
        place = (frame.f_code.co_filename, frame.f_lineno)
        if event == "return" and value is not None:
            run.returned.append((place, value))
        if event == "line":
            run.left = [place]
        elif place not in run.left:
            run.left.append(place)
        return follow

    before = sys.gettrace()
    sys.settrace(entered)
    try:
        yield
    finally:
        sys.settrace(before)
