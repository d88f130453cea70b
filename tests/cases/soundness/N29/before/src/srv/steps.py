from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from srv.types import Step
