from __future__ import annotations
from typing import TYPE_CHECKING

from kit import Kit

if TYPE_CHECKING:
    from helper import boot


class A:
    @staticmethod
    def boot():
        return 1

    def go(self) -> boot:
        return A.boot() + Kit.ready()
