"""The two files that are kept with the code: who caught which mutant the last time, to be asked first; and which
mutants may survive, each with the reason. Reads and writes; what an entry is worth is decided by who asks."""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path

import msgspec

HERE = Path(__file__).parent
KILLERS = HERE / "killers.toml"
ACCEPTED = HERE / "accepted.toml"


class Reason(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """Why some mutants may survive. mutants: their names -> the place, for people."""

    why: str
    mutants: dict[str, str]


class _Accepted(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    reason: list[Reason] = []


def accepted(path: Path = ACCEPTED) -> dict[str, str]:
    """Name -> reason. Raises ValueError for a name that is there twice, or a reason that says nothing."""
    found: dict[str, str] = {}
    for reason in msgspec.toml.decode(path.read_bytes(), type=_Accepted).reason:
        for name in reason.mutants:
            if name in found or not reason.why.strip():
                raise ValueError(f"{path.name}: {name} is there twice, or has no reason")
            found[name] = reason.why
    return found


def killers(path: Path = KILLERS) -> dict[str, str]:
    """Name -> the subject that told the mutant apart the last time."""
    return msgspec.toml.decode(path.read_bytes(), type=dict[str, str]) if path.exists() else {}


def keep_killers(found: Mapping[str, str], path: Path = KILLERS) -> None:
    lines = [f"{json.dumps(name)} = {json.dumps(subject)}\n" for name, subject in sorted(found.items())]
    head = "# Written by `python -m tests.power --keep`. Only saves time.\n"
    path.write_text(head + "".join(lines), encoding="utf-8")
