from __future__ import annotations

from typing import TYPE_CHECKING

from srv.steps import double

if TYPE_CHECKING:
    from srv.types import Step


def run(step: Step) -> Step:
    return double(step)
