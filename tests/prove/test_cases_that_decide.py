"""Where only concrete values can decide, they do; and where they could not, nobody says that the two agree."""

from __future__ import annotations

import pytest

from codemods.prove import opaque
from codemods.prove.options import ProveOptions
from codemods.prove.prover import prove_pair
from codemods.prove.sides import Side
from codemods.prove.stable import Twins
from codemods.schema.prove import Pair, PairResult, ProofVerdict
from codemods.source.files import FileSet, MemoryTree

_OPTIONS = ProveOptions(jobs=1, mutants=0, paths=500, faults=1000, seconds=20.0)


def proved(old: str, new: str, name: str) -> PairResult:
    opaque.forget()
    trees = [FileSet(MemoryTree({"m.py": text.encode()})) for text in (old, new)]
    twins = Twins(Side("old", trees[0]), Side("new", trees[1]), {"m.py"})
    return prove_pair(twins, Pair(old=f"m:{name}", new=f"m:{name}"), _OPTIONS)


_KEEPS = """class Model:
    params: dict[str, list[int]]
    wanted: list[int]

    def load(self, name: str, rows: list[int]) -> None:
        if name == "head":
            rows = [rows[each] for each in self.wanted]
        self.params[name] = rows
"""
_MAKES = """class Rows:
    def __init__(self, rows: list[float]):
        self.rows = rows

    def twice(self) -> "Rows":
        return Rows([each * 2 for each in self.rows])
"""
_ENDS = """from dataclasses import dataclass


@dataclass
class Args:
    path: str
    device: str = "cuda"


def made(args: Args):
    kind = "small" if args.device == "cpu" else "large"
    return kind, args.path.strip()
"""
_SPREAD = """from outside import read


def build(device: str, path: str):
    size = len(device.strip())
    kind = "small" if device == "cpu" else "large"
    return dict(kind=kind, size=size, **read(path))
"""


@pytest.mark.parametrize(
    ("text", "name", "was", "now"),
    [
        (_KEEPS, "Model.load", "for each in self.wanted]", "for each in self.wanted[:1]]"),
        (_KEEPS, "Model.load", "self.params[name] = rows", "self.params[name] = rows[:1]"),
        (_MAKES, "Rows.twice", "return Rows([each * 2", "return Rows([each * 3"),
        (_MAKES, "Rows.twice", "return Rows(", "made = Rows("),
        (_ENDS, "made", '"small" if args.device == "cpu" else "large"', '"large" if args.device == "cpu" else "small"'),
    ],
)
def test_a_slip_shows(text: str, name: str, was: str, now: str) -> None:
    found = proved(text, text.replace(was, now), name)
    assert found.verdict is ProofVerdict.DIFFERS, found


@pytest.mark.parametrize(("text", "name"), [(_KEEPS, "Model.load"), (_MAKES, "Rows.twice"), (_ENDS, "made")])
def test_the_same_in_other_words_agrees(text: str, name: str) -> None:
    words = [
        ("each", "one"),
        ("kind", "sort"),
        ("self.params[name] = rows", "name = name\n        self.params[name] = rows"),
    ]
    new = text
    for was, now in words:
        new = new.replace(was, now)
    found = proved(text, new, name)
    assert found.verdict is ProofVerdict.AGREES, found


def test_what_nothing_follows_to_its_end_is_not_said_to_agree() -> None:
    slip = _SPREAD.replace('"small" if device == "cpu" else "large"', '"large" if device == "cpu" else "small"')
    found = proved(_SPREAD, slip, "build")
    assert found.verdict is not ProofVerdict.AGREES, found
    assert "could not be followed" in found.reason


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("return {'a': x, 'b': y.z}", "return dict(a=x, b=y.z)"),
        (
            (
                "left = set(x.names())\n    for n in y:\n        if n not in left:\n            continue\n"
                "        left.discard(n)\n    if left:\n        raise ValueError"
            ),
            (
                "left = set(x.names())\n    for n in y:\n        is_known = n in left\n        if not is_known:\n"
                "            continue\n        left.discard(n)\n    if left:\n        raise ValueError"
            ),
        ),
    ],
)
def test_no_false_alarm(old: str, new: str) -> None:
    found = proved(f"def f(x, y):\n    {old}\n", f"def f(x, y):\n    {new}\n", "f")
    assert found.verdict is ProofVerdict.AGREES, found


def test_who_ends_is_told_from_who_goes_on() -> None:
    old = "def f(node):\n    while node:\n        node.visit()\n        node = node.up\n        if node is None:\n"
    old += "            break\n"
    found = proved(old, old.replace("        node = node.up\n", ""), "f")
    assert found.verdict is ProofVerdict.DIFFERS, found


def test_a_run_that_is_cut_leaves_nothing_to_the_next() -> None:
    old = "seen = []\n\n\ndef f(x):\n    seen.append(x)\n    while x.goes_on():\n        pass\n    return x\n"
    found = proved(old, old.replace("    return x", "    x = x\n    return x"), "f")
    assert found.verdict is ProofVerdict.AGREES, found


def test_what_was_used_is_not_none() -> None:
    old = "def f(self):\n    size = self.size\n    link = self.link\n    with link.opened():\n"
    old += "        assert link is not None\n        return link.send(size)\n"
    new = old.replace("    size = self.size\n    link = self.link\n", "    size, link = self.size, self.link\n")
    assert proved(old, new, "f").verdict is ProofVerdict.AGREES


_FINDS = """from outside import Part


def found(model):
    inner = getattr(model, "inner", None)
    if isinstance(inner, Part):
        return inner
    return model
"""


def test_an_opaque_class_is_one_class() -> None:
    """Once it was asked whether it is a union, of what, and whether that is a union: a path for each answer."""
    assert proved(_FINDS, _FINDS.replace("getattr(model", "getattr( model"), "found").paths <= 4
    found = proved(_FINDS, _FINDS.replace("return model", "return None"), "found")
    assert found.verdict is ProofVerdict.DIFFERS
    assert any("outside.Part" in line or "no Part" in line for line in found.deltas[0].world), found.deltas[0].world


_METHOD = """class Runner:
    def resolve(self, model):
        for name in ("inner", "text"):
            part = getattr(model, name, None)
            if part is not None:
                return self.resolve(part)
        return model
"""


@pytest.mark.parametrize(
    ("slip", "agrees"),
    [
        (("", ""), True),
        (("return self.resolve(part)", "return self.resolve(model)"), False),
        (("return model", "return part"), False),
    ],
)
def test_a_method_that_calls_itself_becomes_a_function_that_does(slip: tuple[str, str], agrees: bool) -> None:
    """By induction: once each level of a recursion was followed, to the end of the stack."""
    body = "\n".join(line[4:] for line in _METHOD.splitlines()[1:])
    new = body.replace(*slip).replace("self.resolve", "resolve").replace("(self, model)", "(model)") + "\n"
    opaque.forget()
    trees = [FileSet(MemoryTree({"m.py": text.encode()})) for text in (_METHOD, new)]
    twins = Twins(Side("old", trees[0]), Side("new", trees[1]), {"m.py"})
    found = prove_pair(twins, Pair(old="m:Runner.resolve", new="m:resolve"), _OPTIONS)
    assert (found.verdict is ProofVerdict.AGREES) is agrees, found.deltas
    assert found.paths < 20
    if agrees:
        assert found.level.value == "exhaustive"
