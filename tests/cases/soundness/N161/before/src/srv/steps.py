from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from srv.types import Step


def number(step: Step) -> int:
    return step.n
