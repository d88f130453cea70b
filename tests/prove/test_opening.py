"""What both sides have and one side of a pair does by itself is followed, so that a call is not held against its own
body; what is lost with a call shows all the same, by the call where nothing else says it better."""

from __future__ import annotations

import pytest

from codemods.prove.options import ProveOptions
from codemods.prove.prover import prove_pair
from codemods.prove.sides import Side
from codemods.prove.stable import Twins
from codemods.schema.prove import Pair, PairResult, ProofVerdict
from codemods.source.files import FileSet, MemoryTree

_OPTIONS = ProveOptions(jobs=1, mutants=0, paths=500, faults=500, seconds=20.0)
_TEXT = """from outside import build, log, pick


def shared(x):
    return pick(x)


def use(x):
    log(1)
    return shared(x)


class Runner:
    def _get(self, draft=False):
        if draft:
            self.kind = pick(1)
        return build(self.kind)

    def make(self):
        if self.flag:
            self.backend = self._get()
        else:
            self.backend = pick(self._get)

    def other(self):
        self.x = 1
        self._get()
"""


def _proved(name: str, before: str, after: str) -> PairResult:
    assert _TEXT.count(before) == 1
    sides = [
        Side(label, FileSet(MemoryTree({"m.py": text.encode()})))
        for label, text in (("old", _TEXT), ("new", _TEXT.replace(before, after)))
    ]
    return prove_pair(Twins(sides[0], sides[1], ["m.py"]), Pair(old=f"m:{name}", new=f"m:{name}"), _OPTIONS)


@pytest.mark.parametrize(
    ("name", "before", "after"),
    [
        ("use", "return shared(x)", "return pick(x)"),
        ("Runner.make", "self.backend = self._get()", "self.backend = build(self.kind)"),
        ("Runner.other", "self.x = 1\n        self._get()", "self.x = 1\n        build(self.kind)"),
    ],
)
def test_a_call_and_its_body_are_one(name: str, before: str, after: str) -> None:
    found = _proved(name, before, after)
    assert found.verdict is ProofVerdict.AGREES, (found.reason, found.deltas)


@pytest.mark.parametrize(
    ("name", "before", "after", "said"),
    [
        ("use", "return shared(x)", "return pick(x, 1)", "pick(x)  ->  call outside.pick(x, 1)"),
        ("Runner.make", "self.backend = self._get()", "self.backend = build(self.flag)", "build(self.flag)"),
        ("Runner.other", "        self._get()\n", "", "no longer: call self._get()"),
        ("Runner.other", "        self.x = 1\n        self._get()\n", "        build(self.kind)\n        self.x = 1\n",
         "self.x is written at another moment"),
    ],
)  # fmt: skip
def test_what_is_lost_with_it_shows(name: str, before: str, after: str, said: str) -> None:
    found = _proved(name, before, after)
    assert found.verdict is ProofVerdict.DIFFERS
    assert any(said in each.message for each in found.deltas), found.deltas


_STATE = """_world = None
_sizes = {"a": 1}


def destroy():
    global _world
    _world = None


def shrink():
    _sizes["a"] = 0
"""
_USER = """import state


def stop(runner):
    runner.release()
    state.destroy()


def less(runner):
    runner.release()
    state.shrink()
"""


@pytest.mark.parametrize(("name", "call"), [("stop", "    state.destroy()\n"), ("less", "    state.shrink()\n")])
def test_what_a_module_that_is_met_in_the_middle_of_a_run_keeps(name: str, call: str) -> None:
    """Its names are made when they are asked for; what the first call does to them counts as any other."""
    files = [{"state.py": _STATE.encode(), "m.py": text.encode()} for text in (_USER, _USER.replace(call, ""))]
    sides = [Side(label, FileSet(MemoryTree(each))) for label, each in zip(("old", "new"), files, strict=True)]
    found = prove_pair(Twins(sides[0], sides[1], ["m.py"]), Pair(old=f"m:{name}", new=f"m:{name}"), _OPTIONS)
    assert found.verdict is ProofVerdict.DIFFERS, found.reason


_TWO_NAMES = """try:
    import kernel

    HAS_KERNEL = True
except ImportError:
    HAS_KERNEL = False

FIRST = SECOND = []
"""
_ASKS = """def start(runner):
    import state

    return runner.load(state.HAS_KERNEL, state.FIRST)
"""
_ASKS_MORE = """def start(runner):
    import state

    has_kernel = state.HAS_KERNEL
    return runner.load(has_kernel, state.SECOND)
"""


def test_names_that_one_statement_binds_are_bound_by_no_run() -> None:
    """A module that is met in the middle of a run binds names that nobody asked for: those are its own."""
    for before, after in ((_ASKS, _ASKS_MORE), (_ASKS, _ASKS.replace("(state.HAS", "(state.FIRST or state.HAS"))):
        files = [{"state.py": _TWO_NAMES.encode(), "m.py": text.encode()} for text in (before, after)]
        sides = [Side(label, FileSet(MemoryTree(each))) for label, each in zip(("old", "new"), files, strict=True)]
        found = prove_pair(Twins(sides[0], sides[1], ["m.py"]), Pair(old="m:start", new="m:start"), _OPTIONS)
        assert "global" not in " ".join(each.message for each in found.deltas), found.deltas
        assert "once" not in found.reason, found.reason
