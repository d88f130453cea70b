"""Peers of `unmoved prove` on the given regression pairs: CrossHair's `diffbehavior`, and the equivalence test that
hypothesis' ghostwriter writes, run by pytest.

Both take two functions that can be imported, no more: of each pair the functions that its `where.toml` names and that
stand at the top level of a module. What a peer refuses, or has no inputs for, it does not take."""

from __future__ import annotations

import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path

from msgspec import Struct

from tests.bench.prove_cases import given
from tests.prove.regression_pairs import Case, Side, write_tree

MAX_S = 30.0  # for one function of one pair
_FOUND, _NOTHING, _REFUSED = "found", "nothing", "refused"
# Both sides have modules of the same names: each is loaded beside its own tree and stands under a name of its own.
_LOADER = """
import importlib, sys

def load(root, module, name, label):
    before = set(sys.modules)
    sys.path.insert(0, root)
    try:
        function = getattr(importlib.import_module(module), name)
    finally:
        sys.path.remove(root)
        for each in set(sys.modules) - before:
            if (getattr(sys.modules[each], "__file__", None) or "").startswith(root):
                del sys.modules[each]
    if not hasattr(function, "__code__"):
        raise SystemExit("no function")
    function.__module__ = label
    return function
"""
_SIDE = "from peer_loader import load\n{function} = load({root!r}, {module!r}, {function!r}, {label!r})\n"
_WRITE = """
import peer_old, peer_new
from hypothesis.extra import ghostwriter
text = ghostwriter.equivalent(peer_old.{old}, peer_new.{new}, allow_same_errors=True)
open("test_equivalent.py", "w").write(text)
raise SystemExit(7 if "st.nothing()" in text else 0)
"""


class Tally(Struct):
    """taken: pairs that could be worked on. found: of these, with the slip. alarms: of these, corrected."""

    taken: int = 0
    found: int = 0
    alarms: int = 0
    seconds: float = 0.0


class Functions(Struct, frozen=True):
    """Names of one function on both sides; the modules that hold them are peer_old and peer_new in a folder."""

    old: str
    new: str


Peer = Callable[[Path, Functions], str]


def crosshair(folder: Path, names: Functions) -> str:
    """What `crosshair diffbehavior` finds: exit 1 a difference, 0 none (in its time), else it can't."""
    bound = f"--per_condition_timeout={MAX_S * 0.8:.0f}"
    code = _run(folder, ["-m", "crosshair", "diffbehavior", f"peer_old.{names.old}", f"peer_new.{names.new}", bound])
    return {0: _NOTHING, 1: _FOUND, None: _NOTHING}.get(code, _REFUSED)


def ghostwriter(folder: Path, names: Functions) -> str:
    """What the written test finds. Without a strategy for an argument there is none."""
    (folder / "write.py").write_text(_WRITE.format(old=names.old, new=names.new), encoding="utf-8")
    if _run(folder, ["write.py"]) != 0:
        return _REFUSED
    code = _run(folder, ["-m", "pytest", "-q", "-p", "no:cacheprovider", "test_equivalent.py"])
    return {0: _NOTHING, 1: _FOUND, None: _NOTHING}.get(code, _REFUSED)


def tally(peer: Peer, folder: Path, limit: int) -> Tally:
    """The peer on the first `limit` pairs that have importable functions (0: all of them)."""
    made = Tally()
    cases = [case for case in given() if _functions(case)]
    for case in cases[: limit or None]:
        began = time.perf_counter()
        with_slip = _best(peer, folder, case, "after")
        if with_slip != _REFUSED:
            made.taken += 1
            made.found += with_slip == _FOUND
            made.alarms += _best(peer, folder, case, "fixed") == _FOUND
        made.seconds += time.perf_counter() - began
    return made


def importable(limit: int) -> int:
    """How many pairs the peers are asked about."""
    return len([case for case in given() if _functions(case)][: limit or None])


def _functions(case: Case) -> list[tuple[str, str]]:
    return [(old, new) for old, new in case.where.pairs if all(_is_function(case, name) for name in (old, new))]


def _is_function(case: Case, name: str) -> bool:
    module, _, function = name.partition(":")
    path = f"{module.replace('.', '/')}.py"
    defined = f"def {function}("
    return function.isidentifier() and any(
        path in case.tree(side) and any(line.startswith(defined) for line in case.tree(side)[path].decode().split("\n"))
        for side in ("before", "after")
    )


def _best(peer: Peer, folder: Path, case: Case, side: Side) -> str:
    """Of all functions that the case names, the answer that says most."""
    answers = [_asked(peer, folder / f"{case.id}-{side}-{number}", case, side, *names)
               for number, names in enumerate(_functions(case))]  # fmt: skip
    return next((each for each in (_FOUND, _NOTHING) if each in answers), _REFUSED)


def _asked(peer: Peer, folder: Path, case: Case, side: Side, old: str, new: str) -> str:
    folder = folder / peer.__name__
    sides: tuple[tuple[str, Side, str], ...] = (("peer_old", "before", old), ("peer_new", side, new))
    for label, which, name in sides:
        root = write_tree(case.tree(which), folder / f"tree_{label}").resolve()
        module, _, function = name.partition(":")
        text = _SIDE.format(root=str(root), module=module, function=function, label=label)
        (folder / f"{label}.py").write_text(text, encoding="utf-8")
    (folder / "peer_loader.py").write_text(_LOADER, encoding="utf-8")
    if _run(folder, ["-c", "import peer_old, peer_new"]) != 0:
        return _REFUSED
    return peer(folder, Functions(old.partition(":")[2], new.partition(":")[2]))


def _run(folder: Path, arguments: list[str]) -> int | None:
    """The exit status; None when it took longer than MAX_S."""
    try:
        done = subprocess.run([sys.executable, *arguments], cwd=folder, capture_output=True, timeout=MAX_S, check=False)
    except subprocess.TimeoutExpired:
        return None
    return done.returncode
