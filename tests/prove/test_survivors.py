"""Accepted survivors: what a spec may say, all that is wrong with it at once, and which of them are out of date."""

from __future__ import annotations

import pytest

from codemods.prove.mutants import Mutant, mutants_of
from codemods.prove.survivors import (
    Accepted,
    InvalidAccepted,
    Lapse,
    Stale,
    StaleAccepted,
    judge,
    parse_accepted,
)

SOURCE = "def f(a, b):\n    if a < b:\n        g(a, 1)\n    return b\n"
MUTANTS = sorted(mutants_of(SOURCE, "f"), key=lambda each: (each.line, each.column, each.id))
IDS = [each.id for each in MUTANTS]


def accepted(*numbers: int) -> list[Accepted]:
    return [Accepted(id=IDS[number], why="no caller can tell") for number in numbers]


def test_what_a_spec_accepts() -> None:
    text = f'why-not = 1\n[[accepted]]\nid = "{IDS[0]}"\nwhy = "x"\n\n[[accepted]]\nid = "{IDS[1]}"\nwhy = "y"\n'
    assert parse_accepted(text, "s.toml") == (Accepted(id=IDS[0], why="x"), Accepted(id=IDS[1], why="y"))
    assert parse_accepted("pair = 1\n", "s.toml") == ()


@pytest.mark.parametrize(
    ("table", "code", "line", "words"),
    [
        ('id = "{0}"\nwhy = " "', "no-reason", 3, "without a reason"),
        ('id = "{0}"\nwhy = ""', "no-reason", 3, "say why"),
        ('id = "{0}"', "missing-key", 1, "`why`"),
        ('why = "x"', "missing-key", 1, "`id`"),
        ('id = "{0}"\nwhy = "x"\nreason = "y"', "unknown-key", 4, "`reason` is not a key"),
        ('id = 3\nwhy = "x"', "wrong-type", 2, "must be a text"),
        ('id = "f:12"\nwhy = "x"', "bad-value", 2, "is not the id of a mutant"),
        ('id = "boundry:f:0123456789:1"\nwhy = "x"', "bad-value", 2, "did you mean `boundary`?"),
        ('id = "{0}"\nwhy = "x"\n[[accepted]]\nid = "{0}"\nwhy = "y"', "duplicate", 5, "twice"),
    ],
)
def test_what_a_spec_can_not_accept(table: str, code: str, line: int, words: str) -> None:
    with pytest.raises(InvalidAccepted) as error:
        parse_accepted("[[accepted]]\n" + table.replace("{0}", IDS[0]) + "\n", "s.toml")
    assert (error.value.code, error.value.path, error.value.line) == (code, "s.toml", line)
    assert words in str(error.value)


@pytest.mark.parametrize("value", ['"x"', "[1]", "{ id = 1 }", "true"])
def test_only_tables_accept(value: str) -> None:
    with pytest.raises(InvalidAccepted) as error:
        parse_accepted(f"x = 1\naccepted = {value}\n", "s.toml")
    assert (error.value.code, error.value.line) == ("wrong-type", 2)


def test_all_that_is_wrong_is_said_at_once() -> None:
    with pytest.raises(InvalidAccepted) as error:
        parse_accepted('[[accepted]]\nid = "x"\nwhy = ""\nz = 1\n[[accepted]]\nid = "y"\nwhy = ""\n', "s.toml")
    assert [(each.code, each.line) for each in error.value.problems] == [
        ("unknown-key", 4),
        ("bad-value", 6),
        ("no-reason", 7),
    ]
    with pytest.raises(InvalidAccepted, match="not TOML"):
        parse_accepted("[[accepted\n", "s.toml")


def test_each_survivor_has_a_reason_or_not_and_each_reason_a_survivor_or_not() -> None:
    survivors: list[Mutant] = [MUTANTS[4], MUTANTS[1], MUTANTS[2], MUTANTS[1]]
    unexplained, explained, stale = judge(survivors, accepted(2, 4, 5))
    assert unexplained == (MUTANTS[1],)
    assert explained == ((MUTANTS[2], accepted(2)[0]), (MUTANTS[4], accepted(4)[0]))
    assert stale == (Stale(accepted(5)[0], Lapse.ABSENT),)
    assert judge([], []) == ((), (), ())


def test_what_is_killed_is_told_from_what_is_gone_and_from_what_was_not_run() -> None:
    gone = Accepted(id="boundary:f:0123456789:1", why="x")
    judged = judge([MUTANTS[0]], [*accepted(0, 1, 2), gone], existing=IDS, untried=[IDS[2]])
    assert judged.unexplained == () and judged.explained == ((MUTANTS[0], accepted(0)[0]),)
    assert judged.stale == (Stale(accepted(1)[0], Lapse.KILLED), Stale(gone, Lapse.GONE))


def test_what_is_out_of_date_is_an_error_that_names_it() -> None:
    stale = judge([], [*accepted(0), Accepted(id="range:f:0123456789:1", why="x")], existing=IDS).stale
    error = StaleAccepted(stale, path="s.toml")
    assert (error.exit_code, error.code, error.stale) == (1, "stale-accepted", stale)
    assert str(error) == (
        f"stale-accepted: s.toml: 2 accepted survivors are out of date\n  {IDS[0]} is told apart now\n"
        "  range:f:0123456789:1 is no mutant of this code any more; take them out of the `[[accepted]]` tables"
    )
    many = [Stale(each, Lapse.ABSENT) for each in accepted(*range(len(IDS)))] * 2
    assert len(many) > 20 and str(StaleAccepted(many)).count("does not survive") == 20
    assert f"and {len(many) - 20} more" in str(StaleAccepted(many))
