"""Recordings named in a spec: what a real program gave is tried first, and annotations that lie lose."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest

from codemods.prove.domains import Domain, Either, Float, Int, ListOf, Matching, Maybe, OneOf, Text, Tie, Tied
from codemods.prove.domains_shrink import allows, shrink
from codemods.prove.golden import plan_files, write_planned
from codemods.prove.observed import observed_calls, observed_cases, observed_domains
from codemods.prove.options import ProveOptions
from codemods.prove.proving import prove_pairs
from codemods.prove.record import record
from codemods.prove.spec import InvalidSpec, load_spec
from codemods.schema.prove import PairResult, ProofVerdict
from codemods.schema.recording import Change, Recording
from codemods.source.files import FileSet, MemoryTree

PROGRAM = """
class Codes:
    def __init__(self):
        self.limit = 9999
    def padded(self, code: int, note=None):
        if code == self.limit:
            return "most"
        return str(code).zfill(4)
if __name__ == "__main__":
    for each in {given}:
        Codes().padded(each)
"""
SPEC = """
schema = 1
old-tree = "old"
new-tree = "new"
[[pair]]
old = "codes:Codes.padded"
new = "codes:Codes.padded"
"""


def recorded(tmp_path: Path, given: str) -> list[Path]:
    """Recordings of a program that gave these, in golden/."""
    program = tmp_path / "codes.py"
    program.write_text(PROGRAM.format(given=given))
    found = record(["codes:Codes.padded"], [sys.executable, str(program)], {"PATH": ""}, [])
    planned, _ = plan_files(tmp_path / "golden", found.examples)
    write_planned(planned, [Change.NEW])
    return [tmp_path / "golden"]


def proved(tmp_path: Path, recordings: str) -> PairResult:
    """The pair, whose new side agrees on every number that the annotation allows and is positive."""
    (tmp_path / "spec.toml").write_text(SPEC + recordings + 'domains = { code = "int 0..99999" }\n')
    (pair,) = load_spec(tmp_path / "spec.toml").pairs
    old = PROGRAM.format(given="[]")
    new = old.replace("str(code).zfill(4)", 'f"{code:04d}"')
    assert new != old
    sides = [FileSet(MemoryTree({"codes.py": text.encode()})) for text in (old, new)]
    (result,) = prove_pairs(sides[0], sides[1], ["codes.py"], [pair], ProveOptions(jobs=1, seconds=20, mutants=0))
    return result


def test_what_was_recorded_is_proved_with(tmp_path: Path) -> None:
    recorded(tmp_path, '["7"]')
    assert proved(tmp_path, "").verdict is ProofVerdict.AGREES
    result = proved(tmp_path, 'recordings = ["golden"]\n')
    assert result.verdict is ProofVerdict.DIFFERS
    assert result.deltas[0].code == "D9"
    assert "for object of type 'str'" in result.deltas[0].message


def test_recorded_calls_that_agree_are_counted(tmp_path: Path) -> None:
    recorded(tmp_path, "[7, 9999]")
    result = proved(tmp_path, 'recordings = ["golden"]\n')
    assert (result.verdict, result.reason) == (ProofVerdict.AGREES, "")
    assert result.cases > proved(tmp_path, "").cases


def test_inputs_of_a_call(tmp_path: Path) -> None:
    calls = observed_calls(recorded(tmp_path, "[7, 9999]"), "src/codes.py:Codes.padded")
    assert sorted(calls, key=lambda call: call["code"]) == [
        {"self.limit": 9999, "code": 7, "note": None},
        {"self.limit": 9999, "code": 9999, "note": None},
    ]
    assert {"code": 7} in observed_cases(calls, {"code": Int()})
    assert observed_cases(calls, {"other": Int()}) == []


def test_what_a_recording_has_not_kept_is_left_out(tmp_path: Path) -> None:
    recording = Recording(
        schema=1,
        target="m:C.f",
        receiver="me",
        arguments={
            "me": {"$object": "m:C", "label": "me", "attributes": {"lock": {"$opaque": "x:Y", "label": "l"}, "n": 1}},
            "token": "<redacted:token>",
            "*rest": {"$tuple": [1, {"$cut": "..."}]},
            "table": {"$items": [[1, {"$tuple": [2]}]]},
        },
        environment={"HOST": "a", "PASSWORD": "<redacted:PASSWORD>", "UNSET": None},
        returned=None,
    )  # fmt: skip
    planned, _ = plan_files(tmp_path, [recording])
    write_planned(planned, [Change.NEW])
    (call,) = observed_calls([tmp_path], "m:C.f")
    assert set(call) == {"self.n", "table", "os.environ['HOST']", "os.environ['UNSET']"}
    assert observed_cases([call], {"table": Int()}) == [{"table": {1: (2,)}}]


def test_observed_values_come_first_and_beat_what_is_known() -> None:
    calls = [{"a": 1, "b": "x", "c": None, "d": {"$tuple": [1]}}, {"a": "1", "b": "y", "c": 2, "d": None}]
    found = observed_domains(calls, {"a": Int(), "c": Tied(Int(), (Tie("a"),))})
    assert found["a"] == Either((OneOf((1, "1")), Int()))
    assert found["b"] == Either((OneOf(("x", "y")), Text(exact=("x", "y"))))
    assert found["c"] == Tied(Maybe(Either((OneOf((2,)), Int()))), (Tie("a"),))
    assert found["d"] == Maybe(OneOf(((1,),)))
    assert observed_domains([{"a": None}], {}) == {"a": OneOf((None,))}


@pytest.mark.parametrize(
    ("lines", "said"),
    [
        ('recordings = ["nowhere"]\n', "nowhere: can't be read"),
        ('recordings = ["empty"]\n', "holds no recording"),
        ('recordings = ["golden"]\n', "none of the 1 recordings is of codes:Codes.padded; they are of m:f"),
        ('recordings = ["golden"]\nkind = "class"\n', "`recordings` are of calls, and this pair is of kind"),
    ],
)
def test_recordings_that_are_none(lines: str, said: str, tmp_path: Path) -> None:
    (tmp_path / "empty").mkdir()
    planned, _ = plan_files(tmp_path / "golden", [Recording(schema=1, target="m:f", arguments={}, returned=1)])
    write_planned(planned, [Change.NEW])
    (tmp_path / "spec.toml").write_text(SPEC + lines)
    with pytest.raises(InvalidSpec) as caught:
        load_spec(tmp_path / "spec.toml")
    (problem,) = caught.value.problems
    assert said in problem.message
    assert problem.line == 8


def test_a_value_of_another_kind_is_no_value_of_a_domain() -> None:
    domains: list[Domain] = [
        Int(low=0),
        Float(high=1.0),
        Matching("a+"),
        ListOf(Int()),
        Either((Int(low=0), OneOf((None,)))),
    ]
    assert [allows(domain, "b") for domain in domains] == [False] * 5
    assert [allows(domain, {"a": 1}) for domain in domains[:3]] == [False] * 3
    assert allows(Either((Int(low=0), OneOf(("b",)))), "b")
    assert shrink({"code": "77"}, lambda case: "7" in str(case["code"]), domains={"code": Int(low=0)}) == {"code": "77"}
