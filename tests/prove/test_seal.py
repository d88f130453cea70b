"""A subject that replaces what judges it, or what both twins use, is found out, and decides nothing."""

from __future__ import annotations

import importlib
import sys
from types import BuiltinFunctionType, FunctionType, ModuleType
from typing import Any

import pytest

from codemods.prove.options import ProveOptions
from codemods.prove.proving import prove_pairs
from codemods.prove.seal import Seal
from codemods.schema.prove import Pair, PairResult, ProofVerdict
from codemods.source.files import FileSet, MemoryTree

COMPARE = "inspect.sys.modules['codemods.prove.compare']"
# What new code does before it returns something else than the old code did.
FAKES = {
    "the comparison": (f"{COMPARE}.differences = inspect.sys.modules['codemods.prove.pairing'].differences = quiet"
                       , "it replaced codemods.prove."),
    "a name beside it": (f"{COMPARE}.zip = quiet", "it replaced a name that was added to codemods.prove.compare"),
    "its code": (f"{COMPARE}.differences.__code__ = (lambda *_, **__: []).__code__", "object.__setattr__"),
    "a table": ("inspect.sys.modules['codemods.prove.builtin_calls'].HANDLERS[len] = quiet", "HANDLERS"),
    "a module": ("inspect.sys.modules['codemods.prove.deltas'] = None", "sys.modules['codemods.prove.deltas']"),
    "a builtin": ("builtins.zip = quiet", "it replaced builtins.zip"),
    "a method of a shared class": ("json.JSONEncoder.default = quiet", "it replaced json.encoder.JSONEncoder.default"),
    "a shared function": ("json.dumps = quiet", "it replaced json.dumps"),
    "by all classes": ("[each for each in object.__subclasses__()]", "__subclasses__ of type leads out"),
    "by a name made up": ("getattr(json.dumps, '__glob' + 'als__')", "__globals__ of function leads out"),
    "by a frame": ("inspect.currentframe().f_back", "f_back of frame leads out"),
    "by a traceback": ("\n    try: raise ValueError\n    except ValueError as error: error.__traceback__.tb_frame",
                       "tb_frame of traceback leads out"),
    "by a generator": ("(each for each in ()).gi_frame", "gi_frame of generator leads out"),
}  # fmt: skip
TEXT = """
import builtins, inspect, json, os, sys
def quiet(*args, **kwargs):
    return []
def f(x):
    {body}
    return {result}
"""


def proved(old: str, new: str) -> list[PairResult]:
    """The pair `m:f`, and behind it one that agrees, in the same worker if that is asked again."""
    sides = [FileSet(MemoryTree({"m.py": text.encode(), "n.py": b"def g(x):\n    return x\n"})) for text in (old, new)]
    pairs = [Pair(old="m:f", new="m:f"), Pair(old="n:g", new="n:g")]
    return prove_pairs(sides[0], sides[1], ["m.py"], pairs, ProveOptions(jobs=1, seconds=20, mutants=0))


@pytest.mark.parametrize("what", FAKES)
def test_a_subject_that_would_decide_the_verdict(what: str) -> None:
    body, said = FAKES[what]
    old = TEXT.format(body="pass", result=1)
    fake, behind = proved(old, TEXT.format(body=body, result=2))
    assert (fake.verdict, said in fake.reason) == (ProofVerdict.INCONCLUSIVE, True), fake.reason
    assert behind.verdict is ProofVerdict.AGREES


def test_what_a_run_writes_to_a_module_is_an_effect_and_gone_with_it() -> None:
    def verdict(old: str, new: str) -> ProofVerdict:
        return proved(TEXT.format(body=old, result=1), TEXT.format(body=new, result=1))[0].verdict

    assert verdict("sys.stdout = x", "pass") is ProofVerdict.DIFFERS
    assert verdict("os.sep = x; os.sep = x", "os.sep = x; os.sep = x") is ProofVerdict.AGREES
    kept = "\n    if x: os.sep = 'q'\n    return os.sep"
    same = "\n    if x:\n        os.sep = 'q'\n        return 'q'\n    return '/'"
    assert verdict(kept, same) is ProofVerdict.AGREES
    gone = "\n    del os.sep\n    return getattr(os, 'sep', 7)"
    assert verdict(gone, "\n    del os.sep\n    return 7") is ProofVerdict.AGREES
    assert verdict(gone, "\n    del os.sep\n    return '/'") is ProofVerdict.DIFFERS


def test_more_effects_than_are_kept() -> None:
    endless = TEXT.format(body="for _ in range(30_000): print('a')", result=1)
    (result, _) = proved(endless, endless)
    assert (result.verdict, result.bounded > 0) == (ProofVerdict.AGREES, True), result.reason


@pytest.fixture
def seal() -> Seal:
    return Seal()


def test_a_seal_holds(seal: Seal) -> None:
    assert seal.broken() == ""
    import codemods.prove.prover  # noqa: F401 -- what is loaded later breaks nothing

    seal.renew()
    assert seal.broken() == ""


@pytest.mark.parametrize("name", ["codemods.prove.world", "json", "builtins", "re"])
def test_a_seal_breaks(name: str, seal: Seal, monkeypatch: pytest.MonkeyPatch) -> None:
    module: Any = importlib.import_module(name)
    seal.renew()
    runs = (FunctionType, BuiltinFunctionType, type)  # `Any` can be called, too, on 3.10
    known = next(each for each, value in vars(module).items() if isinstance(value, runs) and not each.startswith("_"))
    with monkeypatch.context() as patched:
        patched.setattr(module, known, lambda: None)
        assert seal.broken() == f"{name}.{known}"
    assert seal.broken() == ""
    with monkeypatch.context() as patched:
        patched.setitem(sys.modules, name, ModuleType(name))
        assert name in seal.broken()
    assert seal.broken() == ""
