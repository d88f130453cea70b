from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from srv.types import Step


def double(step: Step) -> Step:
    return step * 2
