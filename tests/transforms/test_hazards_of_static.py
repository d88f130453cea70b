"""Each hazard of make_static: inputs that must raise it, and close ones that must not.

They are in tests/cases/static_hazards, a file per code: `>>> what it is: what must be reported`, then a small tree with
the method `A.f`. `clean` says that nothing at all may be reported: a false alarm is a fault."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from codemods.schema.plan import ExtractMethod
from tests.support.steps import codes, run

FOLDER = Path(__file__).parents[1] / "cases" / "static_hazards"
_HEAD = re.compile(r"^>>> (?P<name>.+): (?P<expected>[^:\n]+)\n", re.MULTILINE)
METHODS = ("visit_Name", "do_ping", "f")

Case = tuple[str, str, str, list[str]]


def cases(stem: str) -> list[Case]:
    """Code, name, text and expected codes of each case of a file."""
    parts = _HEAD.split((FOLDER / f"{stem}.txt").read_text(encoding="utf-8"))
    rows = zip(parts[1::3], parts[2::3], parts[3::3], strict=True)
    return [(stem, name, f"{text.rstrip()}\n", _codes(expected)) for name, expected, text in rows]


def _codes(expected: str) -> list[str]:
    return [] if expected == "clean" else expected.split(", ")


def identify(case: Case) -> str:
    return f"{case[0]} {case[1]}"


def method_of(text: str) -> str:
    return next(f"m:A.{name}" for name in METHODS if f"def {name}(" in text)


KEPT_BEHIND_A_WRAPPER = {"an abstract method": ["stop U112"], "a protocol": ["stop U104"]}
IN_PLACE = [case for path in sorted(FOLDER.glob("*.txt")) if "-" not in path.stem for case in cases(path.stem)]
OF_CALLERS = [case for stem in ("U104", "U111", "U112", "U113") for case in cases(stem)]
OF_THE_CLASS = [case for case in OF_CALLERS if case[1].startswith("a class that ")]


@pytest.mark.parametrize("case", IN_PLACE, ids=identify)
def test_hazards(case: Case) -> None:
    _, _, text, expected = case
    result, _ = run(text, ExtractMethod(method=method_of(text)))
    assert codes(result) == expected, "\n".join(map(str, [*result.hazards, *result.refusals]))


@pytest.mark.parametrize("case", cases("U105-moved"), ids=identify)
def test_private_names_that_leave_the_class(case: Case) -> None:
    _, _, text, expected = case
    result, _ = run(text, ExtractMethod(method="m:A.f", to="m"))
    assert [code for code in codes(result) if "U105" in code] == expected


@pytest.mark.parametrize("case", [case for case in OF_CALLERS if case not in OF_THE_CLASS], ids=identify)
def test_a_wrapper_settles_what_concerns_the_callers(case: Case) -> None:
    _, name, text, _ = case
    result, _ = run(text, ExtractMethod(method=method_of(text), wrapper=True))
    assert codes(result) == KEPT_BEHIND_A_WRAPPER.get(name, [])


def test_every_hazard_has_both_kinds() -> None:
    for stem in ("U101", "U102", "U103", "U104", "U105", "U106", "U107", "U111", "U112", "U113", "U116"):
        found = cases(stem)
        assert sum(any(stem in code for code in expected) for *_, expected in found) >= 2, stem
        assert sum(not any(stem in code for code in expected) for *_, expected in found) >= 1, stem
