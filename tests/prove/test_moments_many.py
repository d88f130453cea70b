"""What changes a name is found however many files mention it; where it can't be read in all of them, the name is an
input."""

from __future__ import annotations

import pytest

from codemods.prove import moments, opaque
from codemods.prove.options import ProveOptions
from codemods.prove.prover import prove_pair
from codemods.prove.sides import Side
from codemods.prove.stable import Twins
from codemods.schema.prove import Pair, ProofVerdict
from codemods.source.files import FileSet, MemoryTree

_HOME = """KINDS = {"a": 1}
STATE = None


class Group:
    LIMIT = 3
    KNOWN = {"a": 1}

    def over(self, x):
        return x > self.LIMIT

    def known(self, k):
        return self.KNOWN[k] if k in self.KNOWN else None


def kind(k):
    return KINDS[k] if k in KINDS else None


def state():
    return STATE is None
"""
_READS = """import m
from m import KINDS, Group


def look(group, k):
    group.LIMIT = group.LIMIT
    return m.STATE, KINDS[k], group.KNOWN[k]
"""
_MENTIONS = "KINDS = STATE = LIMIT = KNOWN = 1\nprint(KINDS[0], STATE, KNOWN[0])\n"
_CHANGES = """import m


def change(group, k):
    m.KINDS[k] = 1
    m.STATE = k
    m.Group.LIMIT = k
    m.Group.KNOWN[k] = 1
"""
_STARRED = "from m import *\n\n\ndef change(k):\n    KINDS[k] = 1\n"
_SLIPS = [
    ("kind", "KINDS[k] if k in KINDS else None", '1 if k == "a" else None'),
    ("state", "STATE is None", "True"),
    ("Group.over", "x > self.LIMIT", "x > 3"),
    ("Group.known", "self.KNOWN[k] if k in self.KNOWN else None", '1 if k == "a" else None'),
]


def _verdict(name: str, before: str, after: str, others: dict[str, str]) -> ProofVerdict:
    opaque.forget()
    sides = [
        Side(label, FileSet(MemoryTree({path: text.encode() for path, text in {**others, "m.py": home}.items()})))
        for label, home in (("old", _HOME), ("new", _HOME.replace(before, after)))
    ]
    options = ProveOptions(jobs=1, mutants=0, paths=2000, faults=2000, seconds=20.0)
    return prove_pair(Twins(sides[0], sides[1], ["m.py"]), Pair(old=f"m:{name}", new=f"m:{name}"), options).verdict


@pytest.mark.parametrize(("name", "before", "after"), _SLIPS)
def test_what_the_last_of_many_files_changes_is_an_input(name: str, before: str, after: str) -> None:
    many = {f"a{number:03}.py": _MENTIONS for number in range(90)}
    assert _verdict(name, before, after, {**many, "z.py": _CHANGES}) is ProofVerdict.DIFFERS
    assert _verdict(name, before, before, {**many, "z.py": _CHANGES}) is ProofVerdict.AGREES
    assert _verdict(name, before, after, many) is ProofVerdict.AGREES


@pytest.mark.parametrize(("name", "before", "after"), _SLIPS)
def test_what_too_many_files_may_change_is_an_input(
    name: str, before: str, after: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(moments, "_MOST_FILES", 2)
    many = {f"a{number:03}.py": _READS for number in range(9)}
    assert _verdict(name, before, after, {**many, "z.py": _CHANGES}) is ProofVerdict.DIFFERS
    assert _verdict(name, before, before, {**many, "z.py": _CHANGES}) is ProofVerdict.AGREES


def test_a_module_that_has_the_name_by_a_star_may_change_it() -> None:
    name, before, after = _SLIPS[0]
    assert _verdict(name, before, after, {"other.py": _STARRED}) is ProofVerdict.DIFFERS
