"""Modules as the subject sees them: one of the tree, whose names are made when they are asked for, and one outside."""

from __future__ import annotations

import types
from typing import TYPE_CHECKING, Any

from codemods.prove.stand_ins import PURE, outside_name

if TYPE_CHECKING:
    from codemods.prove.slices import Loader


class ModuleProxy(types.ModuleType):
    """A module of the tree: its names are made when they are asked for."""

    def __init__(self, loader: Loader, module: str) -> None:
        super().__init__(module)
        self.__dict__.update(_u_loader=loader, _u_module=module)

    def __getattr__(self, name: str) -> Any:
        if name.startswith("_u_") or name in ("__path__", "__wrapped__", "__spec__", "__file__"):
            raise AttributeError(name)
        loader, module = self.__dict__["_u_loader"], self.__dict__["_u_module"]
        target = loader.side.member(module, name)
        if target.kind == "missing":
            raise AttributeError(f"module {module!r} has no attribute {name!r}")
        return loader.value(target)


class OutsideProxy(types.ModuleType):
    """A module outside the trees, seen by `from x import y`."""

    def __init__(self, module: str, real: frozenset[str]) -> None:
        super().__init__(module)
        self.__dict__.update(_u_module=module, _u_real=real)

    def __getattr__(self, name: str) -> Any:
        if name in ("__path__", "__spec__"):
            raise AttributeError(name)
        return outside_name(self.__dict__["_u_module"], name, self.__dict__["_u_real"])


def is_known(dotted: str) -> bool:
    """Whether a module outside the trees is real, or has a stand-in of its own."""
    return dotted in PURE or dotted in ("os", "os.path", "logging", "time", "warnings", "sys")
