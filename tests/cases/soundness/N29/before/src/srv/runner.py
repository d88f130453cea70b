from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from srv.types import Step


def double(step: Step) -> Step:
    return step * 2


def run(step: Step) -> Step:
    return double(step)
