"""The mutator makes mutants, puts them in place and takes them away again; one that is known is caught."""

from __future__ import annotations

import ast
from pathlib import Path
from textwrap import dedent

import pytest

from tests.power.mutants import Mutant, in_place, module_of, mutants
from tests.power.records import accepted, keep_killers, killers
from tests.power.rules import edits
from tests.power.subjects import Subject, _of_pair, traced
from tests.power.trial import Outcome, tried
from tests.verify.test_kernel import function


def edited(text: str) -> set[tuple[str, str, str]]:
    """(rule, place, what stands there instead) of every edit of a function."""
    node = ast.parse(dedent(text)).body[0]
    assert isinstance(node, ast.FunctionDef)
    return {
        (edit.rule, ast.unparse(edit.place), edit.detail or (ast.unparse(edit.by) if edit.by else ""))
        for edit in edits(node)
    }


def test_a_complaint_its_condition_and_the_parts_of_it() -> None:
    text = """
    def f(self, a, b):
        if a != b or not (a and b):
            return self._differ(a, b)
        self._effects += 1
        return True
    """
    assert edited(text) >= {
        ("never", "a != b or not (a and b)", "False"),
        ("never", "a != b", "False"),
        ("never", "not (a and b)", "False"),
        ("always", "a", "True"),
        ("always", "b", "True"),
        ("skip", "self._differ(a, b)", "True"),
        ("drop", "self._effects += 1", ""),
    }


def test_comparisons_loops_values_and_records() -> None:
    text = """
    def f(self, a, b):
        for name in a._fields:
            good &= self.same(a, b)
        self.held[a] = ("l", b)
        self._path.append(next(self._fresh))
        return [*a, b]
    """
    assert edited(text) >= {
        ("loop", "a._fields", "()"),
        ("field", "a._fields", "keywords"),
        ("skip", "self.same(a, b)", "True"),
        ("drop", "self.held[a] = ('l', b)", ""),
        ("blur", "('l', b)", "without b"),
        ("fresh", "next(self._fresh)", "0"),
        ("path", "self._path.append(next(self._fresh))", ""),
        ("part", "[*a, b]", "without *a"),
    }


@pytest.fixture(scope="module")
def known() -> Mutant:
    """The one that does not mind another number of parts in a condition."""
    found = [each for each in mutants(("flow",)) if each.text.startswith("never: len(o.test) != len(n.test)")]
    assert len(found) == 1
    return found[0]


def subject(before: str, after: str, *, is_same: bool = False) -> Subject:
    made = Subject("pair", is_same, _of_pair(function(before), function(after)))
    made.places = traced(made)
    return made


def test_a_known_mutant_is_caught_and_leaves_no_trace(known: Mutant) -> None:
    pair = subject("if a and b:\n    c()", "if a:\n    c()")
    count = pair.objections()
    assert count > 0
    assert tried(known, [pair], "").outcome is Outcome.CAUGHT
    assert pair.objections() == count


def test_what_does_not_come_by_says_nothing(known: Mutant) -> None:
    assert tried(known, [subject("return a", "return b")], "").outcome is Outcome.UNREACHED


def test_a_mutant_that_nothing_tells_apart_survives(known: Mutant) -> None:
    pair = subject("if a:\n    c()", "if a:\n    c()\nb()")
    assert tried(known, [pair], "").outcome is Outcome.SURVIVED


def test_a_constant_without_a_member_is_put_in_place_everywhere() -> None:
    holders = [vars(module_of(name)) for name in ("moments", "expressions", "kernel")]
    before = holders[0]["EFFECTS"]
    mutant = next(each for each in mutants(("moments",)) if each.name == "moments:EFFECTS:member:Call")
    with in_place(mutant):
        assert all(ast.Call not in each["EFFECTS"] for each in holders)
    assert all(each["EFFECTS"] is before for each in holders)


def test_names_are_unique() -> None:
    names = [mutant.name for mutant in mutants(("flow", "targets"))]
    assert len(names) > 100 and len(set(names)) == len(names)


def test_records_are_read_as_they_were_written(tmp_path: Path) -> None:
    keep_killers({"a:b": 'c"d', "a": "e"}, tmp_path / "k.toml")
    assert killers(tmp_path / "k.toml") == {"a:b": 'c"d', "a": "e"}
    (tmp_path / "a.toml").write_text(
        '[[reason]]\nwhy = "w"\n[reason.mutants]\n"x" = "p"\n[[reason]]\nwhy = "v"\n[reason.mutants]\n"x" = "p"\n'
    )
    with pytest.raises(ValueError, match="x is there twice"):
        accepted(tmp_path / "a.toml")
