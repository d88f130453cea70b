"""Which functions are wanted: by qualname and by module, where a module that runs as the program (`python -m x`,
`python x.py`) counts under its real name. Standard library alone: it runs in the recorded program."""

from __future__ import annotations

import os
import sys
from collections.abc import Mapping, Sequence
from typing import Any

# What the program's own module is called while it runs, and in a process that multiprocessing has spawned.
PROGRAM_NAMES = ("__main__", "__mp_main__")


class Wanted:
    """The targets as they were asked for. A class stands for every function directly in its body."""

    def __init__(self, targets: Sequence[str]) -> None:
        self.modules: dict[str, set[str]] = {}
        for target in targets:
            module, _, qualname = target.partition(":")
            self.modules.setdefault(module, set()).add(qualname)
        self._names = {name for names in self.modules.values() for name in names}

    def may_be(self, qualname: str) -> bool:
        return qualname in self._names or qualname.rpartition(".")[0] in self._names

    def name_of(self, qualname: str, names: Mapping[str, Any], path: str) -> str:
        """MODULE:QUALNAME when the function is wanted, else "". names: its globals. path: its file."""
        module = names.get("__name__")
        if not isinstance(module, str):
            return ""
        for candidate in [module] if module not in PROGRAM_NAMES else self.as_program(names, path):
            wanted = self.modules.get(candidate, ())
            if qualname in wanted or qualname.rpartition(".")[0] in wanted:
                return f"{candidate}:{qualname}"
        return ""

    def as_program(self, names: Mapping[str, Any], path: str) -> list[str]:
        """Names of modules under which the running program may have been asked for."""
        spec = names.get("__spec__")
        given = getattr(spec, "name", None)
        if isinstance(given, str):
            return [given, given.removesuffix(".__main__")]
        return [module for module in self.modules if is_file_of(path, module)]


def is_file_of(path: str, module: str) -> bool:
    """Whether a file may be the source of a module, by its path."""
    parts = os.path.realpath(path).removesuffix(".py").split(os.sep)
    wanted = module.split(".")
    return path.endswith(".py") and parts[-len(wanted) :] == wanted


def program_name() -> str:
    """What `__main__` is called in recordings: the name under which it could be imported."""
    main = sys.modules.get("__main__")
    spec = getattr(main, "__spec__", None)
    if spec is not None and isinstance(spec.name, str):
        return spec.name
    path = getattr(main, "__file__", None) or (sys.argv[0] if getattr(sys, "argv", None) else "")
    return os.path.basename(path).removesuffix(".py") or "__main__"
